"""Motifs: arrays of every shape, events, files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tenfold


def drawn(windows=1500, samples=64, taps=16, motifs=2, channels=1, rate=0.05, seed=0):
    rng = np.random.default_rng(seed)
    filters = rng.standard_normal((motifs, channels, taps))
    filters /= np.linalg.norm(filters, axis=(1, 2), keepdims=True)
    fired = rng.poisson(rate, size=(windows, motifs, samples)).astype(float)
    spectra = np.fft.fft(filters, samples, axis=2)
    X = np.einsum("wlt,lct->wct", np.fft.fft(fired, axis=2), spectra)
    return np.fft.ifft(X, axis=2).real, filters, fired


def worst(filters, found, channels):
    """The largest error after shift, sign and order (two motifs)."""

    def like(f, g):
        both = sum(np.correlate(f[c], g[c], "full") for c in range(channels))
        return np.abs(both).max()

    found = found.reshape(len(found), channels, -1)
    likes = np.array([[like(f, g) for g in found] for f in filters])
    best = max(min(likes[0, 0], likes[1, 1]), min(likes[0, 1], likes[1, 0]))
    return np.sqrt(max(0.0, 2 - 2 * best))


@pytest.mark.parametrize("channels", [1, 2])
def test_motifs_come_back(channels):
    X, filters, fired = drawn(channels=channels)
    table = X[:, 0] if channels == 1 else X
    motifs = tenfold.Motifs(2, length=16, cyclic=True).fit(table)
    # .04 at 10,000 windows for four motifs at twice the rate; errors go with one over the root of the windows.
    assert worst(filters, motifs.components_, channels) < 0.1
    assert motifs.components_.shape == ((2, 16) if channels == 1 else (2, 2, 16))
    sums = motifs.transform(table)
    assert sums.shape == (len(X), 2)
    likes = np.abs(np.corrcoef(sums.T, fired.sum(axis=2).T)[:2, 2:])
    assert likes.max(axis=0).min() > 0.8
    events = motifs.decode(table[:10])
    assert set(events["motif"]) <= {0, 1} and events["trial"].max() < 10
    assert motifs.reconstruct(table[:10]).shape == table[:10].shape
    assert motifs.score(table[:50]) > 0.5


def test_the_same_bytes_in_files_and_pickles(tmp_path):
    X, _, _ = drawn(windows=300)
    motifs = tenfold.Motifs(2, length=16, cyclic=True, rate=100.0).fit(X[:, 0])
    motifs.save(tmp_path / "m.tenfold")
    for back in (tenfold.load(tmp_path / "m.tenfold"), pickle.loads(pickle.dumps(motifs))):
        assert isinstance(back, tenfold.Motifs)
        assert np.array_equal(back.components_, motifs.components_)
        one, two = back.decode(X[:20, 0]), motifs.decode(X[:20, 0])
        assert all(np.array_equal(one[name], two[name]) for name in one)
    assert motifs.decode(X[:20, 0])["time"].max() < 64 / 100


def test_wrong_shapes_are_told():
    X, _, _ = drawn(windows=50)
    with pytest.raises(ValueError, match="dimensions"):
        tenfold.Motifs(1, length=4).fit(X[np.newaxis])
    with pytest.raises(tenfold.DataError, match="no stretch"):
        tenfold.Motifs(1, length=100).fit(X[:, 0])
    with pytest.raises(ValueError, match="length"):
        tenfold.Motifs(1, length=0).fit(X[:, 0])


def test_gaps_are_cut_where_they_are_allowed():
    rng = np.random.default_rng(0)
    motif = rng.standard_normal((2, 8))
    fired = rng.poisson(0.02, size=6000)
    X = np.stack([np.convolve(fired, f)[:6000] for f in motif])[np.newaxis] / np.linalg.norm(motif)
    X[0, 0, 1000:1010], X[0, 1, 4000] = np.nan, np.inf
    with pytest.raises(ValueError, match="NaN|infinity"):
        tenfold.Motifs(1, length=8).fit(X)
    motifs = tenfold.Motifs(1, length=8, skip_nan=True).fit(X)
    events = motifs.decode(X)
    truth = np.flatnonzero(fired)
    lag = int(np.median([events["time"][np.abs(events["time"] - t).argmin()] - t for t in truth]))
    assert np.isin(events["time"] - lag, truth).mean() > 0.9 and events["time"].max() > 4000
    rebuilt = motifs.reconstruct(X)
    assert rebuilt.shape == X.shape
    gaps = np.isnan(rebuilt[0, 0])
    assert gaps.sum() == 11 and gaps[1000:1010].all() and gaps[4000]
    assert motifs.__sklearn_tags__().input_tags.allow_nan
    # A table of windows, one with a gap: it keeps its place.
    table = np.nan_to_num(X[0, 0], posinf=0.0)[:5600].reshape(-1, 56)
    table[3, 20] = np.nan
    sums = tenfold.Motifs(1, length=8, skip_nan=True).fit(table).transform(table)
    assert sums.shape == (100, 1) and np.isfinite(sums).all()
    with pytest.raises(tenfold.DataError, match="no samples"):
        motifs.fit(np.full((1, 2, 100), np.nan))
