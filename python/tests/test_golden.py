"""Models that older versions kept (crates/tenfold/tests/golden) still say in Python what they said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tenfold

GOLDEN = Path(__file__).resolve().parents[2] / "crates" / "tenfold" / "tests" / "golden"
VERSIONS = sorted(path for path in GOLDEN.iterdir() if path.is_dir())


def table(path: Path) -> np.ndarray:
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_sources_and_sentences_are_what_they_were(version):
    assert VERSIONS
    ica = tenfold.load(version / "ica" / "model.tenfold")
    found = ica.transform(table(version / "ica" / "data.csv"))
    np.testing.assert_allclose(found, table(version / "ica" / "infer.csv"), rtol=1e-9, atol=1e-9)

    sentences = tenfold.load(version / "sentences" / "model.tenfold")
    lines = (version / "sentences" / "sentences.txt").read_text().splitlines()
    np.testing.assert_allclose(
        sentences.transform(lines), table(version / "sentences" / "infer.csv"), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_every_kept_model_is_read(version):
    kinds = {path.name for path in version.iterdir() if path.name != "tensor"}
    assert {"ica", "topics", "communities", "motifs", "sentences", "trees", "cells"} <= kinds
    for kind in sorted(kinds):
        model = tenfold.load(version / kind / "model.tenfold")
        assert type(model).__name__.lower() == kind
        assert model.verdict_ is not None
