"""Motifs of a photograph: `tenfold motifs fit` on a sample image that scikit-learn's package holds.

    python experiments/motifs/image.py [TENFOLD] [DIR]

TENFOLD is the program (`tenfold` by default); the array, models and pages go to DIR. It prints the page
experiments/results/motifs-image.md. Needs scikit-learn and Pillow.

Photographs have a power spectrum that falls as 1/f², so that neighbouring samples say almost the same and no motif stands out;
as usual in sparse coding the images are flattened first, f · exp(−(f/f₀)⁴) with f₀ of 0.4 cycles a sample (Olshausen and
Field, 1996), after means of 2 × 2 samples.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_sample_image

SIZE, MOTIF, COUNT = 128, 5, 4


def flattened(name: str) -> np.ndarray:
    grey = load_sample_image(name).astype(float).mean(2)
    rows, columns = (side // 2 for side in grey.shape)
    grey = grey[: 2 * rows, : 2 * columns].reshape(rows, 2, columns, 2).mean((1, 3))
    # Flattened before it is cut, so that the seam of the periodic transform lies outside.
    f = np.hypot(np.fft.fftfreq(rows)[:, None], np.fft.rfftfreq(columns)[None, :])
    flat = np.fft.irfft2(np.fft.rfft2(grey - grey.mean()) * f * np.exp(-((f / 0.4) ** 4)), (rows, columns))
    flat = flat[(rows - SIZE) // 2 :, (columns - SIZE) // 2 :][:SIZE, :SIZE]
    return flat / flat.std()


def described(motif: np.ndarray) -> tuple[float, float, float]:
    """Where the spectrum's energy lies: angle of the stripes in degrees, cycles a sample, and how much it favours that angle.

    The angle is that of the leading axis of Σ |F|² k kᵀ; 0 are stripes that run from left to right. The favour is the difference
    of its eigenvalues over their sum: 1 for stripes, 0 for a spot.
    """
    power = np.abs(np.fft.fft2(motif, (64, 64))) ** 2
    k = np.stack(np.meshgrid(np.fft.fftfreq(64), np.fft.fftfreq(64), indexing="ij"), -1)
    moment = np.einsum("ij,ija,ijb->ab", power, k, k)
    values, vectors = np.linalg.eigh(moment)
    row, column = vectors[:, 1]
    frequency = (power * np.hypot(k[..., 0], k[..., 1])).sum() / power.sum()
    return np.degrees(np.arctan2(column, row)) % 180, frequency, (values[1] - values[0]) / values.sum()


def main() -> None:
    program = sys.argv[1] if len(sys.argv) > 1 else "tenfold"
    out = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    print("# Motifs of a photograph\n")
    print("Written by `python experiments/motifs/image.py`: the photograph `china.jpg` of scikit-learn's package,")
    print(f"grey, halved, flattened, the middle {SIZE} × {SIZE} samples; `tenfold motifs fit X.npy --layout images -L {COUNT}")
    print(f"--length {MOTIF}x{MOTIF}`. Stripes are at the angle; 1 in `stripes` is a grating and 0 a spot.")
    for name in ("china.jpg",):
        stem = out / name.removesuffix(".jpg")
        np.save(f"{stem}.npy", flattened(name)[None])
        command = [program, "motifs", "fit", f"{stem}.npy", "--layout", "images", "-L", str(COUNT)]
        command += ["--length", f"{MOTIF}x{MOTIF}", "-o", f"{stem}.tenfold", "--events", f"{stem}.csv", "--json"]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        subprocess.run([program, "report", f"{stem}.tenfold", "-o", f"{stem}.html"], check=True, capture_output=True)
        figures = told["diagnostics"]
        with open(f"{stem}.csv", newline="") as file:
            events = list(csv.DictReader(file))
        filters = tensor(Path(f"{stem}.tenfold"))
        print(f"\n## {name}\n")
        print(f"{len(events):,} firings explain {100 * figures['explained']:.1f} % of the variance; fitted in {told['seconds']:.1f} s.\n")
        print("| motif | angle | cycles a sample | stripes | firings |\n| --- | --- | --- | --- | --- |")
        for number, motif in enumerate(filters):
            angle, frequency, stripes = described(motif)
            fired = sum(int(event["motif"]) == number for event in events)
            print(f"| {number} | {angle:.0f}° | {frequency:.2f} | {stripes:.2f} | {fired:,} |")
        print()
        for finding in told["verdict"]:
            print(f"- {finding['level']}: {finding['message']}")


def tensor(path: Path) -> np.ndarray:
    """The tensor `filters` of a model file, which is a safetensors file: a header of JSON behind its length."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    entry = json.loads(data[8 : 8 + length])["filters"]
    begin, end = entry["data_offsets"]
    values = np.frombuffer(data[8 + length + begin : 8 + length + end], "<f8")
    return values.reshape(-1, MOTIF, MOTIF)


if __name__ == "__main__":
    main()
