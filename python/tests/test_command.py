"""The command that the package installs is the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import time

import numpy as np
import pytest

import tenfold

COMMAND = os.path.join(sysconfig.get_path("scripts"), "tenfold")


def run(*words, **options):
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=120, **options)


def test_help_version_and_exit_codes(tmp_path):
    assert run("--version").stdout == f"tenfold {tenfold.__version__}\n"
    helped = run("ica", "--help")
    assert helped.returncode == 0 and "Usage: tenfold ica" in helped.stdout
    nothing = run()
    assert nothing.returncode == 2 and "Usage: tenfold" in nothing.stderr
    wrong = run("ica", "fit")
    assert wrong.returncode == 2 and wrong.stderr.startswith("error:")
    absent = run("ica", "show", "absent.tenfold", "--json", cwd=tmp_path)
    assert absent.returncode == 3 and '"exit_code":3' in absent.stdout
    assert "absent.tenfold: there is no such file" in absent.stderr


def test_a_model_is_made_and_python_gets_none_of_its_output(tmp_path):
    assert run("generate", "ica", "--columns", "3", "-o", "X.npy", cwd=tmp_path).returncode == 0
    made = run("ica", "fit", "X.npy", "-k", "3", "--threads", "2", "-o", "m.tenfold", cwd=tmp_path)
    assert made.returncode == 0 and "3 sources" in made.stdout
    assert tenfold.load(tmp_path / "m.tenfold").n_components_ == 3


@pytest.mark.skipif(os.name != "posix", reason="signals are sent to a process")
def test_ctrl_c_ends_it_with_its_own_code_and_no_file(tmp_path):
    np.save(tmp_path / "X.npy", np.random.default_rng(0).laplace(size=(20000, 4)))
    words = ["ica", "fit", "X.npy", "-k", "4", "--solver", "online", "--epochs", "1000000", "-o", "m.tenfold"]
    with subprocess.Popen([COMMAND, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        # The estimate of memory is told when the table has been read and the work begins.
        while "memory" not in process.stderr.readline():
            assert process.poll() is None
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
        assert process.wait(timeout=30) == 130
    assert "stopped; nothing was written" in told and "Traceback" not in told
    assert sorted(os.listdir(tmp_path)) == ["X.npy"]


@pytest.mark.skipif(os.name != "posix", reason="a shell with pipes is needed")
def test_a_closed_pipe_is_no_error():
    words = f"set -o pipefail; '{COMMAND}' completions bash | head -n 1"
    piped = subprocess.run(["bash", "-c", words], capture_output=True, text=True, timeout=60)
    assert piped.returncode == 0 and piped.stderr == "", piped


def test_the_command_does_not_wait_for_scikit_learn():
    script = "import sys, tenfold._command; print([m for m in ('numpy', 'scipy', 'sklearn') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "[]\n"
