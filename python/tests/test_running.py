"""Long calls: Python goes on beside them, and can stop them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from tenfold import ICA, _core

# A fit that goes on for ever, as far as a test is concerned.
ENDLESS = {"solver": "online", "n_epochs": 10**6, "polish": False}


class Enough(Exception):
    """Raised by a listener that has seen enough."""


def test_the_lock_is_free_during_a_fit(recorded):
    begin, steps, over = time.monotonic(), [0], threading.Event()

    def stop(stage, done, total):
        if time.monotonic() - begin > 1.0:
            raise Enough

    def count():
        while not over.is_set():
            steps[0] += 1
            time.sleep(0.001)

    beside = threading.Thread(target=count)
    beside.start()
    with pytest.raises(Enough):
        ICA(verbose=stop, **ENDLESS).fit(recorded.X)
    over.set()
    beside.join()
    # A thread that had to wait for the fit would have made a handful of steps: one for each call of the listener.
    assert steps[0] > 100


def test_a_listener_hears_every_stage_and_about_ten_times_a_second(recorded):
    heard = []

    def listen(stage, done, total):
        heard.append((stage, done, total))
        if stage == "separating online" and len(heard) > 12:
            raise Enough

    begin = time.monotonic()
    with pytest.raises(Enough):
        ICA(verbose=listen, **ENDLESS).fit(recorded.X)
    assert 0.5 < time.monotonic() - begin < 10
    stages = list(dict.fromkeys(stage for stage, _, _ in heard))
    assert stages == ["reading", "whitening", "separating online"]
    counts = [done for stage, done, _ in heard if stage == "separating online"]
    assert counts == sorted(counts) and 0 < counts[-1] < heard[-1][2] == 4 * 10**6


def test_a_fit_in_another_thread_runs_too(recorded):
    found = []
    worker = threading.Thread(target=lambda: found.append(ICA(n_jobs=2).fit(recorded.X)))
    worker.start()
    worker.join(timeout=60)
    np.testing.assert_array_equal(found[0].components_, ICA().fit(recorded.X).components_)


INTERRUPTED = """
import sys, numpy as np
from tenfold import ICA
def told(stage, done, total):
    if done:
        print("begun", flush=True)
try:
    ICA(solver="online", n_epochs=10**6, verbose=told).fit(np.random.default_rng(0).laplace(size=(4000, 3)))
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent to a process")
def test_ctrl_c_stops_a_fit_at_once():
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        rest = process.stdout.read()
        assert process.wait(timeout=30) == 7 and rest.endswith("interrupted\n")
        # A tenth of a second until somebody looks, and a batch until it ends; the rest is a busy machine.
        assert time.monotonic() - begin < 3


FORKED = """
import os, numpy as np
from tenfold import ICA
X = np.random.default_rng(0).laplace(size=(4000, 3))
expected = ICA().fit(X).components_
child = os.fork()
if child == 0:
    os._exit(0 if (ICA().fit(X).components_ == expected).all() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_threads_of_its_own():
    run = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60)
    assert run.stdout == "0\n", run.stderr


def test_a_fault_of_ours_is_an_exception_that_asks_for_a_report(recorded, capfd):
    choices = ICA()._checked(recorded.X.shape)
    choices["columns"] = ["one name for three columns"]
    with pytest.raises(RuntimeError, match="please report it as a bug"):
        _core.IcaModel.fit(recorded.X, choices, {"threads": 1, "callback": None, "checkpoint": None})
    assert "panicked" in capfd.readouterr().err


@pytest.mark.parametrize("with_tqdm", [True, False])
def test_verbose_shows_a_bar_on_standard_error(recorded, capsys, monkeypatch, with_tqdm):
    if with_tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    ICA(verbose=True).fit(recorded.X)
    told = capsys.readouterr()
    assert told.out == "" and "whitening" in told.err
    ICA().fit(recorded.X)
    assert capsys.readouterr() == ("", "")


def test_threads_are_what_was_asked_for(monkeypatch):
    from tenfold._arguments import threads_of

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert (threads_of(None), threads_of(-1), threads_of(3)) == (0, 0, 3)
    assert threads_of(-2) == max(1, os.cpu_count() - 1) and threads_of(-1000) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "2,1")
    assert (threads_of(None), threads_of(-1)) == (2, 0)
