"""Many small fits at once, from threads of one process and from processes: what one alone gives, and none waits for ever.

Usage: together.py COUNT. One JSON object: seconds, most threads that were alive at once, and how many answers differed.
"""

from __future__ import annotations

import concurrent.futures
import json
import multiprocessing
import os
import sys
import threading
import time

import cycles

# Nothing here takes seconds alone; whoever waits this long waits for ever.
PATIENCE = 1200.0


class Counter(threading.Thread):
    """The most threads of this process that were seen alive together."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most, self.ended = 0, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.01):
            self.most = max(self.most, len(os.listdir("/proc/self/task")))


def one(job: int) -> tuple[str, str]:
    """One cycle; half of the jobs bring two threads of their own, the others one."""
    names = list(cycles.APPLICATIONS)
    name = names[job % len(names)]
    return name, cycles.cycle(name, jobs=1 + job // len(names) % 2)


def answers(pool: concurrent.futures.Executor, count: int, alone: dict[str, str]) -> tuple[float, int]:
    """Seconds for all jobs, and how many gave another answer than one alone."""
    begin = time.monotonic()
    jobs = [pool.submit(one, job) for job in range(count)]
    found = [job.result(timeout=PATIENCE) for job in jobs]
    return time.monotonic() - begin, sum(print_of != alone[name] for name, print_of in found)


def main(count: int) -> None:
    alone = {name: cycles.cycle(name, jobs=1) for name in cycles.APPLICATIONS}
    before = len(os.listdir("/proc/self/task"))
    counter = Counter()
    counter.start()
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        threads = answers(pool, count, alone)
    counter.ended.set()
    counter.join()
    time.sleep(1.0)
    after = len(os.listdir("/proc/self/task"))
    told = {"threads": {"count": count, "seconds": threads[0], "differ": threads[1]}}
    told["threads"] |= {"most_alive": counter.most, "before": before, "after": after}
    for method in ("spawn", "fork"):
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(count, mp_context=context) as pool:
            seconds, differ = answers(pool, count, alone)
        told[method] = {"count": count, "seconds": seconds, "differ": differ}
    print(json.dumps(told))


if __name__ == "__main__":
    main(int(sys.argv[1]))
