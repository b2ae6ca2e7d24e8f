"""The command ``tenfold``, the same as the one that cargo installs."""

from __future__ import annotations

import signal
import sys

from tenfold import _core


def main() -> int:
    """Runs the command with the words of this process and gives its exit code."""
    # The command listens to Ctrl-C itself and ends between two blocks. Python's handler would be called beside it, and
    # would raise KeyboardInterrupt when the command has already said that it stopped.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.run_command(["tenfold", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
