"""tenfold's motifs with sparse refinement beside sporco's dictionary learning, on the same windows.

    python experiments/motifs/compare.py target/release/tenfold > experiments/results/motifs-compare.md

Needs numpy and sporco (the figures: 0.2.2). Draws windows of 64 samples that close to circles, motifs of 16 taps, Poisson
firings, no noise. tenfold fits as a user would, `motifs fit x.npy -L L --length 16 --cyclic`, with and without `--sparse`,
on all windows; it starts from the moments and has no other start. sporco learns with its consensus dictionary update
(`dmethod="cns"`) and non-negative activations on the first WINDOWS windows, from STARTS random dictionaries for every lambda.
The error is the largest distance of a true motif to its own found one, after shift, sign and permutation.
"""

import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LENGTH, TAPS, ALL, WINDOWS, SEEDS, STARTS = 64, 16, 10_000, 500, 5, 1
LAMBDAS, ROUNDS, BAR = (0.05, 0.1), 200, 0.04
HEAD = "| L | rate | seed | method | largest errors | within .04 | seconds a start |\n| --- | --- | --- | --- | --- | --- | --- |"


def draw(rng, motifs, rate):
    f = rng.standard_normal((motifs, TAPS))
    f /= np.linalg.norm(f, axis=1, keepdims=True)
    w = rng.poisson(rate, (ALL, motifs, LENGTH))
    padded = np.fft.rfft(f, LENGTH)
    return f, np.fft.irfft((np.fft.rfft(w) * padded).sum(axis=1), LENGTH)


def error(truth, found):
    """The distance after the best shift (zeros beyond the ends), sign and pairing."""
    k = len(truth)
    best = np.empty((k, k))
    for i, j in itertools.product(range(k), range(k)):
        peak = np.abs(np.correlate(truth[i], found[j], "full")).max() / np.linalg.norm(found[j])
        best[i, j] = np.sqrt(max(0.0, 2.0 - 2.0 * peak))
    return min(max(best[i, p[i]] for i in range(k)) for p in itertools.permutations(range(k)))


def tensors(path):
    """The tensors of a model file (safetensors): an eight-byte length, a JSON header, the numbers."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    kinds = {"F64": "<f8", "F32": "<f4"}
    return {
        name: np.frombuffer(raw[8 + size :][slice(*entry["data_offsets"])], kinds[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in json.loads(raw[8 : 8 + size]).items()
        if name != "__metadata__" and entry["dtype"] in kinds
    }


def tenfold(binary, folder, motifs, *options):
    model = Path(folder) / "m.tenfold"
    command = [binary, "motifs", "fit", f"{folder}/x.npy", "-L", str(motifs), "--length", str(TAPS), "--cyclic", "-q"]
    begin = time.perf_counter()
    subprocess.run([*command, "-o", str(model), *options], check=True, capture_output=True)
    return time.perf_counter() - begin, tensors(model)["filters"].reshape(motifs, -1)


def sporco(x, motifs, lam, rng):
    from sporco.dictlrn import cbpdndl

    start = rng.standard_normal((TAPS, motifs))
    start /= np.linalg.norm(start, axis=0)
    options = cbpdndl.ConvBPDNDictLearn.Options(
        {"Verbose": False, "MaxMainIter": ROUNDS, "CBPDN": {"NonNegCoef": True}}, xmethod="admm", dmethod="cns"
    )
    begin = time.perf_counter()
    learner = cbpdndl.ConvBPDNDictLearn(start, x.T.copy(), lam, options, xmethod="admm", dmethod="cns", dimK=1, dimN=1)
    learner.solve()
    return time.perf_counter() - begin, learner.getdict().squeeze().T


def told(motifs, rate, seed, what, runs):
    errors, seconds = zip(*runs)
    within = sum(e <= BAR for e in errors)
    shown = " ".join(f"{e:.3f}" for e in errors)
    print(f"| {motifs} | {rate} | {seed} | {what} | {shown} | {within} of {len(runs)} | {np.mean(seconds):.1f} |", flush=True)
    return within, len(runs), sum(seconds)


def main():
    binary, totals = sys.argv[1], {}
    print(f"# Motifs beside sporco\n\n{__doc__.partition('    python')[0].strip()}\n")
    print(f"tenfold reads {ALL} windows, sporco the first {WINDOWS} of them, {ROUNDS} iterations, {STARTS} starts a lambda.\n")
    print(HEAD)
    for motifs, rate, seed in itertools.product((3, 4), (0.02, 0.1), range(1, SEEDS + 1)):
        rng = np.random.default_rng(seed)
        truth, x = draw(rng, motifs, rate)
        rows = {}
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/x.npy", x)
            for what, options in (("tenfold", ()), ("tenfold --sparse", ("--sparse",))):
                seconds, found = tenfold(binary, folder, motifs, *options)
                rows[what] = [(error(truth, found), seconds)]
        for lam in LAMBDAS:
            for _ in range(STARTS):
                seconds, found = sporco(x[:WINDOWS], motifs, lam, rng)
                rows.setdefault(f"sporco, lambda {lam}", []).append((error(truth, found), seconds))
        for what, runs in rows.items():
            counted = told(motifs, rate, seed, what, runs)
            key = (motifs, rate, what.partition(",")[0])
            totals[key] = tuple(a + b for a, b in zip(totals.get(key, (0, 0, 0.0)), counted))
    print("\n| L | rate | method | within .04 | seconds a start |\n| --- | --- | --- | --- | --- |")
    for (motifs, rate, what), (within, runs, seconds) in totals.items():
        print(f"| {motifs} | {rate} | {what} | {within} of {runs} | {seconds / runs:.1f} |")


main()
