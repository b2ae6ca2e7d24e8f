"""Cells in images that numpy holds, and tables of cells on their way to Rust."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tenfold import _core
from tenfold._arguments import amount, characters, running
from tenfold._base import FitWarning
from tenfold._missing import as_numbers, is_missing

PLACES = ("x", "y")
SIZES = ("r1", "r2")
NUMBERS = ("x", "y", "r1", "r2", "orientation", "intensity", "neighbours")


def detect(
    image: ArrayLike,
    *,
    radius: float | None = None,
    scale: float = 1.0,
    neighbour_radius: float = 100.0,
    stain: str = "auto",
    polarity: str = "auto",
    n_jobs: int | None = None,
    verbose: Any = False,
    checkpoint: Any = None,
) -> dict[str, NDArray[np.float64]]:
    """Finds cells in an image: where they are, how large, which way they lie, how strong they are.

    Oriented atoms with soft edges are fitted to the image above its background; their number is settled by moves that
    remove, split and add cells.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, channels)
        Grey or colour, of any type of numbers; the fourth channel is opacity. Bytes and words of 16 bits are read as pixels of a
        file are, other numbers as they stand.
    radius : float, default=None
        The typical radius of a cell in pixels, where its intensity has fallen to half. None finds it.
    scale : float, default=1.0
        µm on the side of a pixel.
    neighbour_radius : float, default=100.0
        How far neighbours are counted, in µm.
    stain : str, default="auto"
        What is looked at: "auto", "grey", "density", "red", "green", "blue", "hematoxylin", "eosin", "dab", or a channel's number.
    polarity : {"auto", "dark-on-light", "light-on-dark"}, default="auto"
        Whether cells are dark or light.
    n_jobs : int, default=None
        Threads. None is all cores, or ``OMP_NUM_THREADS``. Results never depend on it.
    verbose : bool or callable, default=False
        True shows a progress bar; a function is called as ``verbose(stage, done, total)``.
    checkpoint : path, default=None
        A folder for what is finished of a large image. After a crash, the same call for the same image goes on from there, to the same
        cells. When it returns, the folder is removed; another image is refused there.

    Returns
    -------
    dict of ndarray
        ``x``, ``y``, ``r1``, ``r2`` in pixels, ``orientation`` in radians from the x axis downwards, ``intensity`` above the
        background and ``neighbours``; one entry a cell. ``pandas.DataFrame`` makes a table of it.

    Examples
    --------
    >>> import numpy as np
    >>> from tenfold.cells import detect
    >>> y, x = np.mgrid[:120, :120]
    >>> noise = np.random.default_rng(0).normal(0, 2, (120, 120))
    >>> image = noise + sum(100 * np.exp(-((x - a) ** 2 + (y - b) ** 2) / 50) for a in (30, 90) for b in (30, 90))
    >>> cells = detect(image)
    >>> sorted(zip(cells["x"].round().astype(int).tolist(), cells["y"].round().astype(int).tolist()))
    [(30, 30), (30, 90), (90, 30), (90, 90)]
    """
    pixels = np.asarray(image)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3 or pixels.size == 0:
        raise ValueError(f"image has the shape {np.shape(image)}: (height, width) or (height, width, channels) is needed")
    if pixels.dtype.kind not in "buif":
        raise ValueError(f"image holds {pixels.dtype}: numbers are needed")
    top = float(np.iinfo(pixels.dtype).max) if pixels.dtype.kind == "u" and pixels.dtype.itemsize <= 2 else None
    positive = (lambda x: 0 < x < np.inf, "a number above 0 is needed")
    looking: _core.Looking = {
        "radius": None if radius is None else amount("radius", radius, *positive),
        "stain": str(stain),
        "polarity": str(polarity),
        "neighbour_radius": amount("neighbour_radius", neighbour_radius, *positive) / amount("scale", scale, *positive),
        "top": top,
    }
    with running(n_jobs, verbose, checkpoint) as how:
        rows, _, doubts = _core.detect_cells(np.ascontiguousarray(pixels, dtype=np.float32), looking, how)
    for message in doubts:
        warnings.warn(message, FitWarning, stacklevel=2)
    return {name: rows[:, i] for i, name in enumerate(NUMBERS)}


def is_table(X: Any) -> bool:
    """Whether X is a table of cells: it has named columns, genes and places among them."""
    names = X if isinstance(X, dict) else getattr(X, "columns", ())
    return all(name in names for name in ("gene", "x", "y"))


def _texts(X: Any, name: str) -> NDArray[Any]:
    """A column of names; an error names the first row without one, since "None" would be a gene of its own."""
    given = X[name]
    # numpy would write NaN among texts of a list as a text.
    values = np.asarray(given) if hasattr(given, "dtype") else np.asarray(given, dtype=object)
    if values.ndim != 1:
        raise ValueError(f"the column {name!r} has the shape {values.shape}: one {name} for every cell is needed")
    holes = np.flatnonzero(is_missing(values))
    if len(holes):
        raise ValueError(
            f"row {holes[0]} (counted from 0) of the table has no {name}, as {len(holes)} of {len(values)}: drop such rows, or name them"
        )
    texts = values.astype(str)
    characters(f"the {name}", np.unique(texts).tolist())
    return texts


def _check_numbers(name: str, values: NDArray[np.float64]) -> None:
    """What the command line refuses in files: places must be known, and sizes are not negative."""
    wrong, why = np.zeros(len(values), bool), ""
    if name in PLACES:
        wrong, why = ~np.isfinite(values), "places must be known"
    elif np.any(np.isinf(values)):
        wrong, why = np.isinf(values), "numbers are finite, or NaN where they are not known"
    elif name in SIZES:
        wrong, why = values < 0, "a size is not negative"
    rows = np.flatnonzero(wrong)
    if len(rows):
        first = rows[0]
        raise ValueError(
            f"row {first} (counted from 0) of the table has {values[first]} in column {name!r}, as {len(rows)} of {len(values)}, "
            f"but {why}: drop such rows, or mend them"
        )


def table_of(X: Any) -> _core.CellTable:
    """Cells for Rust: images with their genes, the image of every cell, and its numbers."""
    genes = _texts(X, "gene")
    names = X if isinstance(X, dict) else X.columns
    images = _texts(X, "image") if "image" in names else genes
    if images.shape != genes.shape:
        raise ValueError(f"the column 'image' has {images.shape} entries where {genes.shape} were expected")
    numbers = np.full((len(genes), len(NUMBERS)), np.nan)
    for i, name in enumerate(NUMBERS):
        if name in names:
            values = as_numbers(X[name])
            if values.shape != genes.shape:
                raise ValueError(f"the column {name!r} has {values.shape} entries where {genes.shape} were expected")
            _check_numbers(name, values)
            numbers[:, i] = values
    pairs, first, of = np.unique(np.stack([images, genes], axis=1), axis=0, return_index=True, return_inverse=True)
    # In the order of the table, as the command line has them.
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return {
        "images": [(str(image), str(gene)) for image, gene in pairs[order]],
        "of": place[np.ravel(of)],
        "numbers": numbers,
    }
