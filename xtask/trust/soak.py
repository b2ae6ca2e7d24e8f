"""Cycles over all applications for hours in one process: memory and file handles must not grow.

Usage: soak.py MINUTES RECORD.csv. Every cycle goes once over all applications and must give the bytes of the first; then
memory held, file handles and threads are counted. At the end one JSON object: cycles, and the line through the memory
against time. With 0 minutes it tells of the record that is there.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time

import cycles
import numpy as np

# The first cycles fill caches (imports, allocator, pages of the module); a line is fitted through what comes after.
WARM = 0.15
# Neighbouring cycles are alike, so that their scatter tells too small an error; means of long stretches are nearly
# independent.
STRETCHES = 20


def held() -> tuple[int, int, int]:
    """Bytes of memory, file handles, threads."""
    status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    return int(status["VmRSS"].split()[0]) * 1024, len(os.listdir("/proc/self/fd")), int(status["Threads"])


def line(hours: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Slope of means of stretches against time, and its standard error."""
    parts = [part for part in np.array_split(np.arange(len(hours)), STRETCHES) if len(part)]
    x, y = (np.array([array[part].mean() for part in parts]) for array in (hours, values))
    if len(x) < 3:
        return float("nan"), float("inf")
    centred = x - x.mean()
    slope = (centred * y).sum() / (centred**2).sum()
    residual = y - y.mean() - slope * centred
    return float(slope), float(np.sqrt((residual**2).sum() / (len(x) - 2) / (centred**2).sum()))


def main(minutes: float, record: str) -> None:
    if minutes == 0:
        print(json.dumps(summary(record)))
        return
    begin, done = time.monotonic(), 0
    first = {name: cycles.cycle(name) for name in cycles.APPLICATIONS}
    with open(record, "w") as out:
        print("minutes,bytes,handles,threads", file=out)
        while time.monotonic() - begin < 60 * minutes:
            for name, known in first.items():
                if cycles.cycle(name) != known:
                    raise AssertionError(f"{name}: another answer in cycle {done + 1}")
            gc.collect()
            done += 1
            minutes_now = (time.monotonic() - begin) / 60
            print(f"{minutes_now:.3f},{','.join(map(str, held()))}", file=out, flush=True)
    print(json.dumps(summary(record)))


def summary(record: str) -> dict[str, object]:
    """What a record tells."""
    table = np.loadtxt(record, delimiter=",", skiprows=1)
    settled = table[table[:, 0] > WARM * table[-1, 0]]
    slope, error = line(settled[:, 0] / 60, settled[:, 1])
    # A thread that was told to end may still be there at the moment of a count: what stays is there in all of them.
    early, late = np.array_split(settled, 2)
    return {
        "minutes": table[-1, 0],
        "cycles": len(table) + 1,
        "applications": len(cycles.APPLICATIONS),
        "bytes": float(settled[:, 1].mean()),
        "bytes_least": int(settled[:, 1].min()),
        "bytes_most": int(settled[:, 1].max()),
        "slope": slope,
        "slope_error": error,
        "handles": [int(settled[:, 2].min()), int(settled[:, 2].max())],
        "threads": [int(early[:, 3].min()), int(late[:, 3].min())],
    }


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])
