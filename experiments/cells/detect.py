"""Cells found by tenfold, by scikit-image's blob_log and by its distance-transform watershed, in the same images.

    python detect.py PROGRAM DATA [--overlays DIR]

PROGRAM is the built `cells-detect` (cargo build --release -p experiments --bin cells-detect), DATA the folder with 0NNcell.png, 0NNdots.png, the
bone-marrow image and the Allen crop. tenfold runs with its defaults. blob_log has the threshold, the least size and the overlap that are best on these very images, the
watershed the best of its minimal distances: the peers are told what tenfold must find out.
"""

import argparse
import itertools
import pathlib
import struct
import subprocess

import numpy as np
from PIL import Image, ImageDraw
from scipy import ndimage
from scipy.optimize import linear_sum_assignment
from skimage import feature, filters, segmentation


def rgb(path):
    return np.asarray(Image.open(path).convert("RGB")).astype(float)


def dots(path):
    marked = rgb(path).max(2) > 0
    labels, count = ndimage.label(marked, np.ones((3, 3)))
    return np.array(ndimage.center_of_mass(marked, labels, range(1, count + 1)))[:, ::-1]


def tenfold(program, planes, *words):
    stream = b"".join(
        struct.pack("<II", p.shape[1], p.shape[0]) + p.astype("<f4").tobytes() for p in planes
    )
    done = subprocess.run([program, "planes", *words], input=stream, capture_output=True, check=True)
    print(done.stderr.decode())
    rows = [line.split(",") for line in done.stdout.decode().split()[1:]]
    cells = np.array(rows, float).reshape(-1, 7)
    return [cells[cells[:, 0] == i, 1:] for i in range(len(planes))]


def matched(found, truth, most):
    if len(found) == 0 or len(truth) == 0:
        return 0
    far = np.hypot(found[:, None, 0] - truth[None, :, 0], found[:, None, 1] - truth[None, :, 1])
    rows, columns = linear_sum_assignment(np.where(far <= most, far, 1e4))
    return int((far[rows, columns] <= most).sum())


def scores(found, truths, most=6):
    f1 = [2 * matched(f, t, most) / max(len(f) + len(t), 1) for f, t in zip(found, truths)]
    wrong = [abs(len(f) - len(t)) / len(t) for f, t in zip(found, truths)]
    return np.mean(f1), min(f1), np.mean(wrong)


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


def overlay(path, cells, out):
    image = Image.open(path).convert("RGB")
    image = image.resize((2 * image.width, 2 * image.height))
    draw = ImageDraw.Draw(image)
    turn = np.linspace(0, 2 * np.pi, 25)
    for x, y, r1, r2, angle, _ in cells:
        along, across = r1 * np.cos(turn), r2 * np.sin(turn)
        px = 2 * (x + 0.5 + along * np.cos(angle) - across * np.sin(angle))
        py = 2 * (y + 0.5 + along * np.sin(angle) + across * np.cos(angle))
        draw.line(list(zip(px, py)), fill=(0, 220, 0))
    image.save(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--overlays", type=pathlib.Path)
    asked = parser.parse_args()
    names = sorted(asked.data.glob("[0-9]*cell.png"))
    planes = [rgb(name)[:, :, 2] for name in names]
    truths = [dots(name.with_name(name.name.replace("cell", "dots"))) for name in names]
    print(f"{len(names)} fluorescence images, {sum(map(len, truths))} cells\n")
    rows = [("tenfold, defaults", scores(tenfold(asked.program, planes), truths), "")]
    thresholds = itertools.product([0.005, 0.01, 0.02, 0.03, 0.05, 0.1], [2, 3, 3.5], [0.3, 0.5, 0.7, 0.9])
    rows.append(("blob_log", *best(blob_log, planes, truths, thresholds)))
    rows.append(("watershed", *best(watershed, planes, truths, [(1,), (2,), (3,), (4,), (5,)])))
    print("| | F1 at 6 px | worst image | count error | chosen on these images |\n| --- | --- | --- | --- | --- |")
    for name, (f1, worst, wrong), choice in rows:
        print(f"| {name} | {f1:.4f} | {worst:.3f} | {100 * wrong:.1f} % | {choice} |")
    marrow = asked.data / "BM_GRAZ_HE_0001_01_000.png"
    allen = asked.data / "allen_ish_crop.jpg"
    density = [-np.log10(np.maximum(rgb(marrow)[:, :, 0], 1) / 255), -np.log10(np.maximum(rgb(allen), 1) / 255).mean(2)]
    truth = dots(asked.data / "BM_GRAZ_HE_0001_01_dots_000.png")
    for words in ([], ["--radius", "10"]):
        found = tenfold(asked.program, density[:1], *words)[0]
        f1 = 2 * matched(found, truth, 10) / (len(found) + len(truth))
        print(f"bone marrow {' '.join(words)}: {len(found)} cells of {len(truth)}, F1 at 10 px {f1:.3f}")
        if asked.overlays:
            overlay(marrow, found, asked.overlays / f"marrow{''.join(words[1:])}.png")
    found = tenfold(asked.program, density[1:])[0]
    print(f"Allen crop: {len(found)} cells, no truth")
    if asked.overlays:
        overlay(allen, found, asked.overlays / "allen.png")


if __name__ == "__main__":
    main()
