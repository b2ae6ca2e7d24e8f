"""Documents inferred one call at a time, as a service does.

Usage: one_by_one.py DOCUMENTS. One JSON object: documents a second for rows of counts and for texts, by the clock and by
the processor, and how much memory grew.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np
from scipy import sparse

import tenfold

warnings.simplefilter("ignore")

WORDS, TOPICS, LENGTH, DISTINCT = 2000, 20, 30, 5000


def held() -> int:
    """Bytes of memory of this process."""
    line = next(line for line in open("/proc/self/status") if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def main(documents: int) -> None:
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(WORDS, 0.05), TOPICS)
    names = [f"word{i}" for i in range(WORDS)]
    mixtures = rng.dirichlet(np.full(TOPICS, 0.1), DISTINCT)
    counts = np.array([rng.multinomial(LENGTH, p) for p in mixtures @ topics])
    model = tenfold.Topics(TOPICS, vocabulary=names).fit(counts)
    together = model.transform(counts)
    rows = [sparse.csr_matrix(row) for row in counts]
    texts = [" ".join(name for name, times in zip(names, row, strict=True) for _ in range(times)) for row in counts]
    read = model.transform(texts)
    told: dict[str, object] = {"documents": documents, "topics": TOPICS, "words": WORDS, "length": LENGTH}
    for what, given, known in (("rows", rows, together), ("texts", [[text] for text in texts], read)):
        for i in range(200):
            if not np.array_equal(model.transform(given[i])[0], known[i]):
                raise AssertionError(f"document {i} alone has another mixture than among others")
        number = documents if what == "rows" else max(documents // 10, 1)
        before, begin, work = held(), time.perf_counter(), time.process_time()
        for i in range(number):
            model.transform(given[i % DISTINCT])
        seconds, busy = time.perf_counter() - begin, time.process_time() - work
        told[what] = {"documents": number, "seconds": seconds, "rate": number / seconds, "grown": held() - before}
        told[what]["rate_busy"] = number / busy
    print(json.dumps(told))


if __name__ == "__main__":
    main(int(sys.argv[1]))
