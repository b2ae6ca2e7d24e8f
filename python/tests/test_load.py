"""Many calls at once, and one after the other: the same answers as alone, and nothing that stays."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from scipy import sparse

import tenfold

COUNTS = np.random.default_rng(0).poisson(1.0, (200, 30))
FITS = 16

pytestmark = pytest.mark.filterwarnings("ignore")


def fit(seed):
    """The numbers of one small fit and of what it infers."""
    model = tenfold.Topics(2, random_state=seed % 2, n_jobs=2).fit(COUNTS)
    return model.components_.tobytes() + model.transform(COUNTS).tobytes()


def test_fits_at_once_are_those_alone():
    alone = [fit(0), fit(1)]
    with ThreadPoolExecutor(FITS) as threads:
        assert all(found == alone[seed % 2] for seed, found in enumerate(threads.map(fit, range(FITS), timeout=300)))
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as processes:
        assert all(found == alone[seed % 2] for seed, found in enumerate(processes.map(fit, range(4), timeout=300)))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts what /proc tells")
def test_no_thread_and_no_file_stays():
    def there():
        return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))

    fit(0)
    before = there()
    for _ in range(3):
        tenfold.Topics(2, memory_limit=0).fit(COUNTS).transform(COUNTS)
    # Threads that were told to end may take a moment.
    deadline = time.monotonic() + 30
    while there() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert there() <= before


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float64, np.float32, np.uint8])
def test_documents_one_by_one_have_the_mixtures_they_have_together(dtype):
    table = sparse.csr_matrix(COUNTS.astype(dtype))
    model = tenfold.Topics(3).fit(table)
    together = model.transform(table)
    for i in range(len(COUNTS)):
        assert np.array_equal(model.transform(table[i])[0], together[i])
    assert np.array_equal(model.transform(sparse.csr_array(table[:5])), together[:5])


def test_texts_one_by_one_have_the_mixtures_they_have_together():
    rng = np.random.default_rng(1)
    words = [[f"{stem}{i}" for i in range(15)] for stem in ("sea", "bread", "stone")]
    texts = [" ".join(rng.choice(words[i % 3], size=12)) for i in range(300)] + ["", "nobody knows these"]
    model = tenfold.Topics(3).fit(texts)
    together = model.transform(texts)
    for text, mixture in zip(texts, together, strict=True):
        assert np.array_equal(model.transform([text])[0], mixture)
    assert np.array_equal(model.transform(texts[:5]), together[:5])
    with pytest.raises(ValueError, match="surrogates"):
        model.transform(["sea1 \ud800 sea2"])
    with pytest.raises(ValueError, match="columns without names"):
        tenfold.Topics(2).fit(COUNTS).transform(["sea1 sea2"])


def test_what_is_wrong_with_one_document_is_said_as_for_many():
    model = tenfold.Topics(3).fit(COUNTS)
    for wrong, told in ((-1.0, "Negative"), (np.nan, "NaN"), (np.inf, "infinity")):
        one = COUNTS[:1].astype(float)
        one[0, 3] = wrong
        with pytest.raises(ValueError, match=told):
            model.transform(sparse.csr_matrix(one))
    with pytest.raises(ValueError, match="features"):
        model.transform(sparse.csr_matrix(COUNTS[:1, :7]))
