"""The package as a whole: what importing it costs, and its types."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

import tenfold

ROOT = pathlib.Path(__file__).parents[2]


def test_the_installed_package_is_tested():
    assert ROOT not in pathlib.Path(tenfold.__file__).parents or "site-packages" in tenfold.__file__


def test_every_name_is_there_and_a_wrong_one_is_told():
    assert set(dir(tenfold)) == set(tenfold.__all__)
    for name in tenfold.__all__:
        assert getattr(tenfold, name) is not None
    for name in tenfold.ESTIMATORS.values():
        assert getattr(tenfold, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'LDA'"):
        tenfold.LDA  # noqa: B018
    assert issubclass(tenfold.DataError, ValueError) and tenfold.DataError.__module__ == "tenfold"


def test_importing_stays_light():
    heavy = ["pandas", "pyspark", "networkx", "igraph", "polars", "gensim", "anndata", "matplotlib", "tqdm", "torch"]
    # What scikit-learn brings along is not ours to judge.
    names = "; ".join(f"tenfold.{name}" for name in tenfold.__all__)
    script = f"import sys, sklearn.base, sklearn.utils.validation; before = set(sys.modules); import tenfold; {names}; "
    script += f"print([m for m in {heavy} if m in sys.modules and m not in before])"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "[]\n"


@pytest.mark.parametrize("what", [["-p", "tenfold"], [str(pathlib.Path(__file__).with_name("typed_use.py"))]])
def test_types_hold(what):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *what]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_stubs_name_what_is_compiled():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "tenfold._core", "--ignore-missing-stub"]
    command += ["--allowlist", str(pathlib.Path(__file__).with_name("stubtest_allowlist.txt"))]
    command += ["--mypy-config-file", str(ROOT / "pyproject.toml")]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
