from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from countarfactuals.datasets import Cassini, Process, Strand, Strands, ThreeBlobs, TwoSines, random_plane
from countarfactuals.exceptions import ParameterError

BENT = Strands((Strand(0.5, 1.2, 1.0, 0.3, 1.5, 2.0, 0.5), Strand(-0.5, 0.8, -2.0, -0.6, 0.0, 1.0, 0.3)))

# Each box holds all mass but less than 1e-8.
BOXES = [
    (Cassini(), (-3.5, 3.5), (-2.6, 2.6)),
    (TwoSines(), (-18.0, 19.0), (-4.0, 4.0)),
    (ThreeBlobs(), (-17.0, 17.0), (-7.0, 12.0)),
    (ThreeBlobs(means=((0.0, 0.0),), sd=0.3), (-2.0, 2.0), (-2.0, 2.0)),
    (BENT, (-9.0, 9.0), (-9.0, 10.0)),
]
in_boxes = pytest.mark.parametrize(("process", "box1", "box2"), BOXES)


def density_on_grid(process: Process, box1, box2, size: int = 900):
    """Midpoints, widths and densities: a plain sum is accurate for smooth densities that vanish at the border."""
    first, second = (np.linspace(*box, size + 1) for box in (box1, box2))
    x1, x2 = first[:-1] + np.diff(first) / 2, second[:-1] + np.diff(second) / 2
    grid1, grid2 = np.meshgrid(x1, x2, indexing="ij")
    frame = pd.DataFrame({"x1": grid1.ravel(), "x2": grid2.ravel()})
    return x1, x2, np.exp(process.log_density(frame)).reshape(size, size) * (x1[1] - x1[0]) * (x2[1] - x2[0])


@in_boxes
def test_density_integrates_to_one(process, box1, box2) -> None:
    assert density_on_grid(process, box1, box2)[2].sum() == pytest.approx(1.0, abs=1e-6)


@in_boxes
def test_sample_follows_density(process, box1, box2) -> None:
    """KS tests of both margins against the integrated density; each false alarm has a chance of 1e-3, seed fixed."""
    x1, x2, mass = density_on_grid(process, box1, box2)
    frame = process.sample(4000, random_state=11)
    for name, points, margin in (("x1", x1, mass.sum(axis=1)), ("x2", x2, mass.sum(axis=0))):
        right_edges = points + (points[1] - points[0]) / 2
        cdf = np.cumsum(margin)
        result = stats.kstest(frame[name], lambda value, edges=right_edges, cdf=cdf: np.interp(value, edges, cdf))
        assert result.pvalue > 1e-3
    # The mean log density of draws estimates ∫ p log p: within 4 standard errors (false alarm 6e-5).
    drawn = process.log_density(frame)
    expected = np.sum(
        mass * np.log(mass / ((x1[1] - x1[0]) * (x2[1] - x2[0])), where=mass > 0, out=np.zeros_like(mass))
    )
    assert abs(drawn.mean() - expected) < 4 * drawn.std() / np.sqrt(len(drawn))


def test_cassini_equals_mixture_written_out() -> None:
    frame = Cassini().sample(30, random_state=1)
    normal = stats.norm.pdf
    expected = [
        np.log(
            normal(a, 0, 0.2) * normal(b, 0, 0.2) / 3
            + normal(a, 0, 0.5) * normal(b, np.cos(a), 0.2) / 3
            + normal(a, 0, 0.5) * normal(b, -np.cos(a), 0.2) / 3
        )
        for a, b in zip(frame["x1"], frame["x2"], strict=True)
    ]
    np.testing.assert_allclose(Cassini().log_density(frame), expected, rtol=1e-12)


def test_two_sines_equals_mixture_written_out() -> None:
    frame = TwoSines().sample(30, random_state=1)
    expected = [
        np.log(sum(0.5 * stats.norm.pdf(a, y, 3) * stats.norm.pdf(b, np.sin(a) - 2 * y + 1, 0.3) for y in (0, 1)))
        for a, b in zip(frame["x1"], frame["x2"], strict=True)
    ]
    np.testing.assert_allclose(TwoSines().log_density(frame), expected, rtol=1e-12)


def test_labels() -> None:
    """Shares of y = 1 within 4 standard errors (false alarm 6e-5 each)."""
    blobs = ThreeBlobs().sample(4000, random_state=2)
    np.testing.assert_array_equal(blobs["y"], (blobs["x2"] > 6).astype(int))
    for process, share in ((Cassini(), 2 / 3), (TwoSines(), 1 / 2)):
        label = process.sample(4000, random_state=2)["y"]
        assert set(label) == {0, 1}
        assert abs(label.mean() - share) < 4 * np.sqrt(share * (1 - share) / 4000)
    core = Cassini().sample(4000, random_state=2).query("y == 0")
    assert core["x2"].abs().max() < 1.0


def test_bad_blobs_are_errors() -> None:
    with pytest.raises(ParameterError, match="pairs"):
        ThreeBlobs(means=((1.0, 2.0, 3.0),))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="above 0"):
        ThreeBlobs(sd=-1.0)


def test_strands_equal_their_mixture_written_out() -> None:
    frame = BENT.sample(30, random_state=1)
    normal = stats.norm.pdf
    expected = [
        np.log(
            normal(a, 0.5, 1.2) * normal(b, 1.0 + 0.3 * a + 1.5 * np.sin(2.0 * a), 0.5) / 2
            + normal(a, -0.5, 0.8) * normal(b, -2.0 - 0.6 * a, 0.3) / 2
        )
        for a, b in frame[["x1", "x2"]].to_numpy()
    ]
    np.testing.assert_allclose(BENT.log_density(frame), expected, rtol=1e-12)
    assert frame.loc[frame["x2"] > 3, "y"].eq(0).all()  # the second strand stays far below


def test_random_planes_follow_their_seed() -> None:
    assert random_plane(random_state=1) == random_plane(random_state=1)
    assert random_plane(random_state=1) != random_plane(random_state=2)
    assert [strand.bend == 0.0 for strand in random_plane(6, random_state=4).strands].count(True) == 3


@pytest.mark.parametrize("strands", [(), (Strand(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),)])
def test_strands_without_extent_are_refused(strands) -> None:
    with pytest.raises(ParameterError, match="at least one, of lengths and widths above 0"):
        Strands(strands)
