"""device=: the card's answer is the processor's, and a device that is not there is told."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig

import numpy as np
import pytest

from tenfold import ICA, Communities, Topics

ESTIMATORS = [ICA, Topics, Communities]


def adapters():
    """What ``tenfold devices`` lists."""
    command = os.path.join(sysconfig.get_path("scripts"), "tenfold")
    run = subprocess.run([command, "devices", "--json"], capture_output=True, text=True)
    return json.loads(run.stdout)["devices"] if run.returncode == 0 else []


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("name", ["cuda", "gpu:", "gpu:x", "auto:", "cpu:0", 0, None])
def test_unknown_devices_are_refused(estimator, name):
    with pytest.raises(ValueError, match="device"):
        estimator(2, device=name).fit(np.eye(8))


def test_a_card_that_is_not_there_is_told(recorded):
    with pytest.raises(RuntimeError, match="adapter|graphics card"):
        ICA(device="gpu:999").fit(recorded.X)


def test_auto_always_fits(recorded):
    ica = ICA(device="auto").fit(recorded.X)
    assert ica.n_components_ == 3
    # Without a card it says so, and the answer is the processor's.
    if any("the processor is used" in note for note in ica.verdict_.notes):
        assert (ica.components_ == ICA().fit(recorded.X).components_).all()


def test_auto_with_a_number_uses_that_card(recorded):
    if not adapters():
        pytest.skip("there is no adapter; on Debian, mesa-vulkan-drivers brings software Vulkan")
    there = ICA(polish=False, device="gpu:0").fit(recorded.X)
    assert (ICA(polish=False, device="auto:0").fit(recorded.X).components_ == there.components_).all()


def test_the_card_gives_the_processors_answer(recorded):
    if not adapters():
        pytest.skip("there is no adapter; on Debian, mesa-vulkan-drivers brings software Vulkan")
    here = ICA(polish=False, tol=1e-6).fit(recorded.X)
    there = ICA(polish=False, tol=1e-6, device="gpu:0").fit(recorded.X)
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-4 * np.abs(here.components_).max())
    again = ICA(polish=False, tol=1e-6, device="gpu:0").fit(recorded.X)
    assert (again.components_ == there.components_).all()
