"""Cells: images as arrays, tables of cells, counts, files."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tenfold
from tenfold.cells import detect


def image(seed=0, side=240, dtype=float):
    """Cells on a grid that is jittered, so that they do not touch."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:side, :side]
    centres = [(a + rng.uniform(-4, 4), b + rng.uniform(-4, 4)) for a in range(30, side - 20, 45) for b in range(30, side - 20, 45)]
    light = sum(120 * np.exp(-np.log(2) * ((x - a) ** 2 + (y - b) ** 2) / 36) for a, b in centres)
    values = 60 + light + rng.normal(0, 6, (side, side))
    return (np.clip(values, 0, 255).astype(dtype) if dtype != float else values), np.array(centres)


def near(cells, centres):
    """Of every true centre the distance to the nearest cell."""
    found = np.stack([cells["x"], cells["y"]], axis=1)
    return np.linalg.norm(found[None] - centres[:, None], axis=2).min(axis=1)


@pytest.mark.parametrize("dtype", [float, np.uint8, np.float32])
def test_cells_are_found_in_arrays(dtype):
    pixels, centres = image(dtype=dtype)
    cells = detect(pixels)
    assert len(cells["x"]) == len(centres)
    assert near(cells, centres).max() < 1.5
    # Half-maximum radii of 6 pixels; noise of 5 % of the height over about a hundred pixels leaves far less than 10 %.
    assert np.all(np.abs(np.sqrt(cells["r1"] * cells["r2"]) - 6) < 0.6)
    assert set(cells) == {"x", "y", "r1", "r2", "orientation", "intensity", "neighbours"}


def test_dark_cells_and_colours_are_read():
    pixels, centres = image(dtype=np.uint8)
    dark = 255 - pixels
    assert near(detect(dark), centres).max() < 1.5
    colour = np.stack([dark, np.full_like(dark, 250), dark], axis=2)
    assert near(detect(colour), centres).max() < 1.5
    with pytest.raises(ValueError, match="stain"):
        detect(dark, stain="mauve")
    with pytest.raises(ValueError, match="shape"):
        detect(np.zeros(5))
    with pytest.raises(ValueError, match="finite"):
        detect(np.full((40, 40), np.nan))


def drawn(rows=400, types=3, genes=30, seed=0):
    """Counts of rows that mix types with few genes each."""
    rng = np.random.default_rng(seed)
    profiles = rng.dirichlet(np.full(genes, 0.2), types)
    mixtures = rng.dirichlet(np.full(types, 0.2), rows)
    return np.stack([rng.multinomial(200, h @ profiles) for h in mixtures]), profiles, mixtures


def matched(found, truth):
    """The mean total variation of true profiles from their nearest found one."""
    return (np.abs(found[None] - truth[:, None]).sum(axis=2) / 2).min(axis=1).mean()


def test_profiles_come_back_from_counts():
    X, profiles, mixtures = drawn()
    types = tenfold.Cells(3).fit(X)
    # 80,000 tokens for 90 numbers: sampling alone gives about .01 to .02.
    assert matched(types.components_, profiles) < 0.06
    assert np.allclose(types.components_.sum(axis=1), 1)
    assert np.all(np.diff(types.weights_) <= 0)
    found = types.transform(X)
    assert np.allclose(found.sum(axis=1), 1)
    same = tenfold.Cells(3, n_jobs=1).fit(sparse.csr_matrix(X))
    assert np.array_equal(same.components_, types.components_)
    assert types.score(X) > tenfold.Cells(1).fit(X).score(X)
    assert len(types.markers(0, 4)) == 4 and types.markers(0, 4)[0][2] > 1


def test_single_cells_judge_types():
    X, _, mixtures = drawn(seed=3)
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(X.shape[1])])
    types = tenfold.Cells(3).fit(frame.iloc[:300])
    told = types.evaluate(frame.iloc[300:, ::-1], labels=mixtures[300:].argmax(axis=1), permutations=19)
    assert told["perplexity"] < told["permuted"].min() and told["p_value"] == 0.05
    assert told["perplexity"] < told["unigram"] and told["genes"] == X.shape[1]
    assert told["adjusted_rand_index"] > 0.3


def tissue(seed=0):
    """Two types: small cells that show genes a and b, large ones that show c and d; e is shown by both."""
    rng = np.random.default_rng(seed)
    parts = []
    for gene, shares in {"a": (1, 0), "b": (1, 0), "c": (0, 1), "d": (0, 1), "e": (1, 1)}.items():
        for size, share in zip((5.0, 9.0), shares):
            n = 300 * share
            r = size * np.exp(rng.normal(0, 0.08, n))
            part = {"gene": gene, "image": f"{gene}.png", "x": rng.uniform(0, 900, n), "y": rng.uniform(0, 900, n), "r1": r * 1.1}
            part |= {"r2": r, "orientation": rng.uniform(0, np.pi, n), "intensity": rng.uniform(50, 150, n), "size": size}
            parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


def test_types_come_back_from_cells(tmp_path):
    cells = tissue()
    types = tenfold.Cells(2).fit(cells)
    assert types.genes_ == ["a", "b", "c", "d", "e"]
    probabilities = types.transform(cells)
    small = probabilities[(cells["size"] == 5).to_numpy()].mean(axis=0)
    large = probabilities[(cells["size"] == 9).to_numpy()].mean(axis=0)
    assert np.abs(small - large).min() > 0.9
    sizes = sorted(own["median"] for traits in types.traits_ for own in traits if own["feature"] == "size")
    assert np.allclose(sizes, np.array([5, 9]) * np.sqrt(1.1), rtol=0.05)
    path = tmp_path / "m.tenfold"
    types.save(path)
    back = tenfold.load(path)
    assert isinstance(back, tenfold.Cells) and back.get_params() == types.get_params()
    assert np.array_equal(back.transform(cells), probabilities)
    assert np.array_equal(pickle.loads(pickle.dumps(types)).components_, types.components_)
    types.report(tmp_path / "page.html")
    assert "2 cell types" in (tmp_path / "page.html").read_text(encoding="utf-8")
    shuffled = cells.sample(frac=1, random_state=1)
    order = np.argsort(shuffled.index)
    assert np.allclose(back.transform(shuffled)[order], probabilities)
    with pytest.warns(tenfold.FitWarning, match="not known"):
        types.transform(cells.assign(gene="zz"))


def test_what_cannot_be_is_told():
    X, _, _ = drawn(rows=40)
    with pytest.raises(ValueError, match="n_components"):
        tenfold.Cells("some").fit(X)
    with pytest.raises(ValueError, match="solver"):
        tenfold.Cells(2, solver="magic").fit(X)
    with pytest.raises(ValueError, match="[Nn]egative"):
        tenfold.Cells(2).fit(-X)
    with pytest.raises(tenfold.DataError, match="plain counts"):
        tenfold.Cells(2).fit(X).transform(tissue())


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("gene", None, "row 3 .* has no gene.*name them"), ("gene", np.nan, "row 3 .* has no gene"),
        ("gene", pd.NA, "row 3 .* has no gene"), ("image", None, "row 3 .* has no image"),
        ("gene", "caf\udce9", "surrogates"), ("r1", -2.0, "row 3 .*'r1'.*not negative"),
        ("r2", -2.0, "row 3 .*'r2'.*not negative"), ("x", np.nan, "row 3 .*'x'.*places must be known"),
        ("y", np.inf, "row 3 .*'y'.*places must be known"), ("r1", np.inf, "row 3 .*'r1'.*finite"),
        ("intensity", -np.inf, "row 3 .*'intensity'.*finite"), ("orientation", np.inf, "row 3 .*'orientation'.*finite"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::tenfold.FitWarning")
def test_rows_that_are_no_cells(column, value, told):
    rng = np.random.default_rng(0)
    numbers = {name: rng.uniform(1, 9, 90) for name in ("x", "y", "r1", "r2", "orientation", "intensity")}
    table = pd.DataFrame({"gene": np.array(["a", "b", "c"])[rng.integers(3, size=90)], "image": "one", **numbers})
    table["gene"], table["image"] = table["gene"].astype(object), table["image"].astype(object)
    table.loc[3, column] = value
    for given in (table, {name: table[name].tolist() for name in table}):
        with pytest.raises(ValueError, match=told):
            tenfold.Cells(2, restarts=1).fit(given)
    # Sizes and the rest may be unknown, also as pandas writes it.
    holes = table.assign(gene=np.where(table.index % 2, "a", "b"), image="one", x=1.0, y=2.0, r1=np.nan, r2=2.0, intensity=1.0, orientation=0.0)
    found = [tenfold.Cells(1, restarts=1).fit(holes.astype({"r1": kind})).to_bytes() for kind in (float, "Float64")]
    assert found[0] == found[1]
    mended = table.assign(gene="a", image="one", x=1.0, y=2.0, r1=np.nan, r2=np.abs(table["r2"]), intensity=1.0, orientation=0.0)
    assert tenfold.Cells(1, restarts=1).fit(mended.assign(gene=np.where(mended.index % 2, "a", "b"))).genes_
