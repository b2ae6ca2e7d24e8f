"""tenfold.ICA: what it finds, in what it takes it, and how it is kept."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tenfold
from tenfold import ICA


def test_sources_are_found_in_canonical_order(recorded):
    ica = ICA().fit(recorded.X)
    found = ica.transform(recorded.X)
    match = np.abs(np.corrcoef(recorded.sources.T, found.T)[:3, 3:])
    # A source is known to about 1/sqrt(samples), here 0.016; its correlation differs from 1 by half the square.
    assert match.max(axis=1).min() > 0.995
    assert sorted(match.argmax(axis=1)) == [0, 1, 2]
    assert (np.diff(np.abs(ica.kurtosis_)) <= 0).all()
    assert (np.take_along_axis(ica.mixing_, np.abs(ica.mixing_).argmax(0)[None], 0) > 0).all()
    np.testing.assert_allclose(found.std(axis=0), 1.0, rtol=1e-9)
    np.testing.assert_allclose(ica.components_ @ ica.mixing_, np.eye(3), atol=1e-9)
    np.testing.assert_allclose((recorded.X - ica.mean_) @ ica.components_.T, found, atol=1e-9)
    np.testing.assert_allclose(ica.inverse_transform(found), recorded.X, atol=1e-9)
    assert ica.verdict_.sound and ica.n_components_ == 3 and ica.n_iter_ >= 1
    assert len(ica.diagnostics_["spectrum"]) == 3 and ica.diagnostics_["eigengap"] == np.inf
    assert ica.shares_.sum() == pytest.approx(1.0)


def test_threads_and_layout_do_not_change_a_bit(recorded, tmp_path):
    X = recorded.X
    expected = ICA(n_jobs=1).fit(X)
    mapped = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    frozen = X.copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    layouts = {
        "threads": X,
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=0)[::2],
        "backwards": X[::-1].copy()[::-1],
        "read-only": frozen,
        "mapped": np.memmap(tmp_path / "X", dtype=np.float64, mode="r", shape=X.shape),
        "unaligned": unaligned,
        "big-endian": X.astype(">f8"),
        "lists": X.tolist(),
    }
    for name, layout in layouts.items():
        other = ICA(n_jobs=3).fit(layout)
        assert other._model.to_bytes() == expected._model.to_bytes(), name
        np.testing.assert_array_equal(other.transform(layout), expected.transform(X), err_msg=name)
    small = ICA(memory_limit=0).fit(X)
    np.testing.assert_array_equal(small.components_, expected.components_)


def test_single_precision_stays_single(recorded):
    X = recorded.X.astype(np.float32)
    ica = ICA().fit(X)
    found = ica.transform(X)
    assert found.dtype == np.float32 and ica.inverse_transform(found).dtype == np.float32
    assert ica.transform(recorded.X).dtype == np.float64
    # The very numbers of the single precision, summed in double.
    np.testing.assert_array_equal(ica.components_, ICA().fit(X.astype(np.float64)).components_)


def test_seeds_mean_the_same_answer(recorded):
    first = ICA(solver="online", random_state=3).fit(recorded.X).components_
    np.testing.assert_array_equal(ICA(solver="online", random_state=3).fit(recorded.X).components_, first)
    assert (ICA(solver="online", random_state=4).fit(recorded.X).components_ != first).any()
    zero = ICA(solver="online").fit(recorded.X).components_
    np.testing.assert_array_equal(ICA(solver="online", random_state=None).fit(recorded.X).components_, zero)
    for make in (np.random.default_rng, np.random.RandomState):
        drawn = [ICA(solver="online", random_state=make(5)).fit(recorded.X).components_ for _ in range(2)]
        np.testing.assert_array_equal(*drawn)


@pytest.mark.parametrize("solver", ["polar", "power", "als", "simultaneous", "online"])
def test_every_solver_and_its_file(recorded, solver, tmp_path):
    ica = ICA(2, solver=solver, polish=solver == "online", standardize=True).fit(recorded.X)
    assert ica.components_.shape == (2, 3)
    ica.save(tmp_path / "m.tenfold")
    back = ICA.load(tmp_path / "m.tenfold")
    assert back.get_params()["solver"] == solver and back.n_components == 2 and back.standardize
    np.testing.assert_array_equal(clone(back).fit(recorded.X).components_, ica.components_)


def test_kept_by_pickle_copy_and_file(recorded, tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(recorded.X, columns=["left", "two\nlines", "é"])
    ica = ICA(2, random_state=7).set_output(transform="pandas").fit(table)
    expected = ica.transform(table)
    assert list(expected.columns) == ["ica0", "ica1"] == list(ica.get_feature_names_out())
    ica.save(tmp_path / "m.tenfold")
    loaded = [ICA.load(tmp_path / "m.tenfold"), tenfold.load(str(tmp_path / "m.tenfold"))]
    for back in [pickle.loads(pickle.dumps(ica)), copy.deepcopy(ica), *loaded]:
        np.testing.assert_array_equal(np.asarray(back.transform(table)), expected.to_numpy())
        assert list(back.feature_names_in_) == list(table.columns) and back.random_state == 7
        assert back.verdict_ == ica.verdict_ and back.summary() == ica.summary()
    with pytest.raises(ValueError, match="feature names"):
        loaded[0].transform(table[["é", "left", "two\nlines"]])


def test_the_command_and_the_package_read_each_other(recorded, tmp_path):
    np.save(tmp_path / "X.npy", recorded.X)
    command = [sys.executable, "-m", "tenfold._command", "--seed", "4", "--quiet"]
    subprocess.run([*command, "ica", "fit", "X.npy", "-k", "3", "-o", "m.tenfold"], cwd=tmp_path, check=True)
    theirs = tenfold.load(tmp_path / "m.tenfold")
    ours = ICA(3, random_state=4).fit(recorded.X)
    np.testing.assert_allclose(theirs.components_, ours.components_, rtol=1e-6)
    ours.save(tmp_path / "ours.tenfold")
    shown = subprocess.run(
        [*command, "ica", "show", "ours.tenfold"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert shown.stdout == ours.summary()


def test_report_and_notebook(recorded, tmp_path):
    ica = ICA()
    assert "verdict" not in ica._repr_mimebundle_()["text/html"]
    for write in (ica.report, ica.save):
        with pytest.raises(NotFittedError):
            write(tmp_path / "x")
    with pytest.raises(NotFittedError):
        ica.transform(recorded.X)
    ica.fit(recorded.X)
    shown = ica._repr_mimebundle_()["text/html"]
    assert "sk-estimator" in shown and "excess kurtosis" in shown
    assert ica._repr_html_().endswith(shown[-300:])
    ica.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page == ica._model.page() and "<title>3 independent sources</title>" in page


def test_score_and_pipeline(recorded):
    X = np.column_stack([recorded.X, recorded.X @ [1.0, 1.0, 1.0]])
    with pytest.warns(tenfold.FitWarning, match="rank 3"):
        assert ICA(4).fit(X).n_components_ == 3
    scores = [ICA(k).fit(recorded.X).score(recorded.X) for k in (1, 2, 3)]
    assert 0 < scores[0] < scores[1] < scores[2] == pytest.approx(1.0)
    assert make_pipeline(StandardScaler(), ICA("auto")).fit_transform(X).shape[1] <= 3


def test_doubt_is_a_warning():
    noise = np.random.default_rng(0).normal(size=(2000, 3))
    with pytest.warns(tenfold.FitWarning, match="Gaussian"):
        ica = ICA(polish=False).fit(noise)
    assert not ica.verdict_.sound and any("Gaussian" in text for text in ica.verdict_.warnings)
    with pytest.warns(ConvergenceWarning, match="still moving after 1 iteration"):
        ICA(max_iter=1, tol=0.0, polish=False).fit(np.random.default_rng(1).laplace(size=(2000, 5)))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_components": 0}, "n_components = 0 is out of range"),
        ({"n_components": 2.5}, "n_components = 2.5 is no whole number"),
        ({"n_components": "many"}, "n_components = 'many' is not known"),
        ({"n_components": 5000}, "cannot carry"),
        ({"solver": "qr"}, "solver = 'qr' is not known: it may be 'polar'"),
        ({"contrast": None}, "contrast"),
        ({"max_iter": 3, "solver": "online"}, "max_iter means nothing"),
        ({"batch_size": 3}, "batch_size means nothing"),
        ({"tol": -1.0}, "tol = -1.0 is out of range"),
        ({"random_state": -1}, "random_state = -1"),
        ({"random_state": "x"}, "random_state = 'x'"),
        ({"n_jobs": 0}, "n_jobs = 0"),
        ({"n_jobs": "all"}, "n_jobs = 'all'"),
        ({"memory_limit": -1}, "memory_limit"),
    ],
)
def test_arguments_out_of_range_are_named(recorded, arguments, words):
    with pytest.raises(ValueError, match=words):
        ICA(**arguments).fit(recorded.X)


def test_wrong_files_are_told(tmp_path, recorded):
    with pytest.raises(FileNotFoundError, match="no such file") as caught:
        ICA.load(tmp_path / "absent.tenfold")
    assert caught.value.filename == str(tmp_path / "absent.tenfold")
    (tmp_path / "bad.tenfold").write_bytes(b"\x80\x04not a model")
    for read in (ICA.load, tenfold.load):
        with pytest.raises(tenfold.DataError, match="Python pickle, which is never loaded"):
            read(tmp_path / "bad.tenfold")
    with pytest.raises(OSError, match="cannot be written"):
        ICA().fit(recorded.X).save(tmp_path / "absent" / "m.tenfold")
    with pytest.raises(tenfold.DataError, match="2 sources where 3 were expected"):
        ICA().fit(recorded.X).inverse_transform(recorded.X[:, :2])
