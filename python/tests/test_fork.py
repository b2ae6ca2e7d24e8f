"""Estimators in processes that Python forked after a fit: no thread of the parent is there, and none may be waited for."""

from __future__ import annotations

import multiprocessing
import pickle
import sys

import numpy as np
import pytest

import tenfold

COUNTS = np.random.default_rng(0).poisson(1.0, (300, 30))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["Topics", "Communities", "ICA"])
def test_a_forked_child_works_on(name):
    data = COUNTS[:30] + COUNTS[:30].T if name == "Communities" else COUNTS.astype(float)
    model = getattr(tenfold, name)(2).fit(data)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        found = pool.apply_async(model.transform, (data,)).get(timeout=60)
    np.testing.assert_allclose(found, model.transform(data))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["Topics", "Communities", "ICA", "Cells"])
def test_a_forked_child_writes_and_reads_what_its_parent_did(name, tmp_path):
    data = COUNTS[:30] + COUNTS[:30].T if name == "Communities" else COUNTS.astype(float)
    # As the child gets it: through its file, which keeps some numbers in single precision.
    model = pickle.loads(pickle.dumps(getattr(tenfold, name)(2).fit(data)))
    model.report(tmp_path / "page.html")
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.apply_async(model.report, (tmp_path / "child.html",)).get(timeout=60)
        data = pool.apply_async(model.to_bytes).get(timeout=60)
    assert (tmp_path / "child.html").read_bytes() == (tmp_path / "page.html").read_bytes()
    assert data == model.to_bytes()
