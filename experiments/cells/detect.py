"""Cells found by the built command in image files: drawn tissue, and real images beside scikit-image's blob_log and watershed.

    python detect.py TENFOLD DATA [--overlays DIR]

TENFOLD is the built program, DATA the folder with 0NNcell.png, 0NNdots.png, the bone-marrow image and the Allen crop. Every figure of tenfold is
that of `tenfold cells detect FILE -o cells.csv`, with its defaults unless other words stand beside it. Every marked dot is a cell. blob_log has the
threshold, the least size and the overlap that are best on these very images, the watershed the best of its minimal distances: the peers are told
what tenfold must find out.
"""

import argparse
import csv
import itertools
import pathlib
import subprocess
import tempfile
import time

import numpy as np
from PIL import Image
from scipy import ndimage
from scipy.optimize import linear_sum_assignment
from skimage import feature, filters, segmentation

MARKS = ("x", "y", "r1", "r2", "orientation")


def rgb(path):
    return np.asarray(Image.open(path).convert("RGB")).astype(float)


def dots(path):
    down, right = np.nonzero(rgb(path).max(2) > 0)
    return np.stack([right, down], 1).astype(float)


def cells(path):
    with open(path, newline="") as file:
        rows = [[float(row[mark]) for mark in MARKS] for row in csv.DictReader(file)]
    return np.array(rows).reshape(-1, len(MARKS))


def tenfold(program, image, *words):
    """The cells of a file; an image without cells is an answer as well."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "cells.csv"
        command = [program, "cells", "detect", image, "-o", out, *words]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if not out.exists() and "no cells" not in done.stdout + done.stderr:
            raise SystemExit(done.stderr)
        warnings = [line for line in done.stderr.splitlines() if "warning" in line]
        return (cells(out) if out.exists() else np.zeros((0, len(MARKS)))), warnings


def pairs(found, truth, most):
    far = np.hypot(found[:, None, 0] - truth[None, :, 0], found[:, None, 1] - truth[None, :, 1])
    rows, columns = linear_sum_assignment(np.where(far <= most, far, 1e4))
    near = far[rows, columns] <= most
    return rows[near], columns[near]


def f1(found, truth, most):
    return 2 * len(pairs(found, truth, most)[0]) / max(len(found) + len(truth), 1)


def scores(found, truths, most=6):
    each = [f1(f, t, most) for f, t in zip(found, truths)]
    wrong = [abs(len(f) - len(t)) / len(t) for f, t in zip(found, truths)]
    return np.mean(each), min(each), np.mean(wrong)


def drawn(program, folder, shape, seed, side=1000, count=500):
    words = f"generate cells --genes 1 --types 3 --expressed 1 --side {side} --cells {count} --shape {shape} --seed {seed}"
    subprocess.run([program, *words.split(), "-o", folder], check=True, capture_output=True)
    started = time.time()
    found, _ = tenfold(program, folder / "gene0001.png")
    took, truth = time.time() - started, cells(folder / "truth.csv")
    mine, true = pairs(found, truth, 5)
    radii = [np.median(abs(found[mine, mark] / truth[true, mark] - 1)) for mark in (2, 3)]
    long = truth[true, 2] > 1.25 * truth[true, 3]
    turn = (found[mine, 4] - truth[true, 4])[long] % np.pi
    angle = np.degrees(np.median(np.minimum(turn, np.pi - turn)))
    return f1(found, truth, 5), *radii, angle, len(found) / len(truth) - 1, len(truth), took


def tissue(program):
    print("| cells | F1 at 5 px, mean (worst) | r1, worst | r2, worst | orientation, worst | count, mean absolute (worst) |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for shape in ("gaussian", "soft"):
            runs = [drawn(program, pathlib.Path(folder) / f"{shape}{seed}", shape, seed) for seed in range(1, 6)]
            each, r1, r2, angle, count, _, _ = np.array(runs).T
            worst = count[abs(count).argmax()]
            print(
                f"| {shape} | {each.mean():.3f} ({each.min():.3f}) | {100 * r1.max():.1f} % | {100 * r2.max():.1f} % | {angle.max():.1f}° "
                f"| {100 * abs(count).mean():.1f} % ({100 * worst:+.1f} %) |",
                flush=True,
            )
        run = drawn(program, pathlib.Path(folder) / "ten", "gaussian", 5, 3163, 5000)
        print(f"ten megapixels: F1 {run[0]:.3f}, {run[5]:.0f} cells, count {100 * run[4]:+.1f} %, {run[6]:.1f} s\n", flush=True)


def blank(program):
    """Noise images in which something was found, of thirty."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(100, 130):
            noise = 60 + 10 * np.random.default_rng(seed).normal(size=(512, 512))
            path = pathlib.Path(folder) / "noise.png"
            Image.fromarray(noise.clip(0, 255).astype(np.uint8)).save(path)
            wrong += len(tenfold(program, path)[0]) > 0
    print(f"white noise, 512 × 512: cells in {wrong} of 30 images\n", flush=True)


def blob_log(plane, threshold, smallest, overlap):
    sizes = {"min_sigma": smallest, "max_sigma": 5, "num_sigma": 8}
    blobs = feature.blob_log(plane / 255, threshold=threshold, overlap=overlap, **sizes)
    return blobs[:, [1, 0]]


def watershed(plane, distance):
    smooth = filters.gaussian(plane, 1)
    mask = smooth > filters.threshold_otsu(smooth)
    depth = ndimage.distance_transform_edt(mask)
    places = feature.peak_local_max(depth, min_distance=distance, labels=ndimage.label(mask)[0])
    markers = np.zeros(mask.shape, int)
    markers[tuple(places.T)] = np.arange(1, len(places) + 1)
    labels = segmentation.watershed(-depth, markers, mask=mask)
    if labels.max() == 0:
        return np.zeros((0, 2))
    return np.array(ndimage.center_of_mass(mask, labels, range(1, labels.max() + 1)))[:, ::-1]


def best(detect, planes, truths, choices):
    runs = [([detect(plane, *choice) for plane in planes], choice) for choice in choices]
    found, choice = max(runs, key=lambda run: scores(run[0], truths)[0])
    return scores(found, truths), choice


def fluorescence(program, data):
    names = sorted(data.glob("[0-9]*cell.png"))
    truths = [dots(name.with_name(name.name.replace("cell", "dots"))) for name in names]
    print(f"{len(names)} fluorescence images, {sum(map(len, truths))} cells\n")
    rows = [("tenfold, defaults", scores([tenfold(program, name)[0] for name in names], truths), "")]
    planes = [rgb(name)[:, :, 2] for name in names]
    thresholds = itertools.product([0.005, 0.01, 0.02, 0.03, 0.05, 0.1], [2, 3, 3.5], [0.3, 0.5, 0.7, 0.9])
    rows.append(("blob_log", *best(blob_log, planes, truths, thresholds)))
    rows.append(("watershed", *best(watershed, planes, truths, [(1,), (2,), (3,), (4,), (5,)])))
    print("| | F1 at 6 px | worst image | count error | chosen on these images |\n| --- | --- | --- | --- | --- |")
    for name, (mean, worst, wrong), choice in rows:
        print(f"| {name} | {mean:.4f} | {worst:.3f} | {100 * wrong:.1f} % | {choice} |", flush=True)


def as_they_are(program, data, overlays):
    truth = dots(data / "BM_GRAZ_HE_0001_01_dots_000.png")
    runs = [("BM_GRAZ_HE_0001_01_000.png", ()), ("BM_GRAZ_HE_0001_01_000.png", ("--radius", "10")), ("allen_ish_crop.jpg", ())]
    for name, words in runs:
        drawn_on = ("--overlay", overlays) if overlays else ()
        found, warnings = tenfold(program, data / name, *words, *drawn_on)
        marked = f", F1 at 10 px {f1(found, truth, 10):.3f} of {len(truth)} marked" if name.startswith("BM") else ""
        print(f"{name} {' '.join(words)}: {len(found)} cells{marked} {warnings}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--overlays", type=pathlib.Path)
    asked = parser.parse_args()
    tissue(asked.program)
    blank(asked.program)
    fluorescence(asked.program, asked.data)
    as_they_are(asked.program, asked.data, asked.overlays)


if __name__ == "__main__":
    main()
