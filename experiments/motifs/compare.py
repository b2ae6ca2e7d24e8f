"""Sparse refinement from a start near the truth beside sporco from random starts, on the same windows.

    python experiments/motifs/compare.py target/release/refine

Needs numpy and sporco. Draws windows of 64 samples that close to circles, motifs of 16 taps, Poisson firings, no noise.
The start is the truth plus a tenth of noise: what the moments give. sporco learns with its consensus dictionary update and
non-negative activations, on the first WINDOWS windows, from random motifs; lambda is the best of three. The error is the
largest distance of a true motif to its own found one, after shift, sign and permutation.
"""

import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LENGTH, TAPS, ALL, WINDOWS, SEEDS, STARTS = 64, 16, 10_000, 500, 5, 3
LAMBDAS, ROUNDS, BAR = (0.02, 0.05, 0.1), 300, 0.04


def draw(rng, motifs, rate):
    f = rng.standard_normal((motifs, TAPS))
    f /= np.linalg.norm(f, axis=1, keepdims=True)
    w = rng.poisson(rate, (ALL, motifs, LENGTH))
    padded = np.fft.rfft(f, LENGTH)
    return f, np.fft.irfft((np.fft.rfft(w) * padded).sum(axis=1), LENGTH)


def error(truth, found):
    """Shifts beyond the ends are free: zeros stand there."""
    k = len(truth)
    best = np.empty((k, k))
    for i, j in itertools.product(range(k), range(k)):
        peak = np.abs(np.correlate(truth[i], found[j], "full")).max() / np.linalg.norm(found[j])
        best[i, j] = np.sqrt(max(0.0, 2.0 - 2.0 * peak))
    return min(max(best[i, p[i]] for i in range(k)) for p in itertools.permutations(range(k)))


def sporco(x, motifs, lam, rng):
    from sporco.dictlrn import cbpdndl

    start = rng.standard_normal((TAPS, motifs))
    start /= np.linalg.norm(start, axis=0)
    options = cbpdndl.ConvBPDNDictLearn.Options(
        {"Verbose": False, "MaxMainIter": ROUNDS, "CBPDN": {"NonNegCoef": True}}, xmethod="admm", dmethod="cns"
    )
    begin = time.perf_counter()
    learner = cbpdndl.ConvBPDNDictLearn(
        start, x.T.copy(), lam, options, xmethod="admm", dmethod="cns", dimK=1, dimN=1
    )
    learner.solve()
    return time.perf_counter() - begin, learner.getdict().squeeze().T


def main():
    binary = sys.argv[1]
    print("| L | rate | seed | method | errors | within .04 | seconds a start |\n| --- | --- | --- | --- | --- | --- | --- |")
    for motifs, rate, seed in itertools.product((3, 4), (0.02, 0.1), range(1, SEEDS + 1)):
        rng = np.random.default_rng(seed)
        truth, x = draw(rng, motifs, rate)
        start = truth + 0.1 / np.sqrt(TAPS) * rng.standard_normal(truth.shape)
        rows = {}
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "x.f64").write_bytes(x.astype("<f8").tobytes())
            (Path(folder) / "start.f64").write_bytes(start.astype("<f8").tobytes())
            sizes = [str(n) for n in (ALL, LENGTH, motifs, TAPS, STARTS)]
            out = subprocess.run([binary, folder, *sizes], check=True, capture_output=True, text=True).stdout
        for line in map(json.loads, out.splitlines()):
            found = np.reshape(line["motifs"], (motifs, TAPS))
            rows.setdefault(line["what"], []).append((error(truth, found), line["seconds"]))
        for lam in LAMBDAS:
            for _ in range(STARTS):
                seconds, found = sporco(x[:WINDOWS], motifs, lam, rng)
                rows.setdefault(f"sporco consensus, lambda {lam}", []).append((error(truth, found), seconds))
        for what, runs in rows.items():
            errors, seconds = zip(*runs)
            told, within = " ".join(f"{e:.3f}" for e in errors), sum(e <= BAR for e in errors)
            print(f"| {motifs} | {rate} | {seed} | {what} | {told} | {within} of {len(errors)} | {np.mean(seconds):.1f} |", flush=True)


main()
