from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit, softmax

from countarfactuals.datasets import BayesianNetwork, Node, random_network
from countarfactuals.exceptions import DataError

Y = Node("y", "bernoulli", coefficients=(0.3, 0.0, 0.0))
COLOUR = Node(
    "colour",
    "categorical",
    parents=("y",),
    weights=(1.0,),
    coefficients=(0.1, 1.2, -0.4),
    slopes=(0.0, 1.5, -2.0),
    intercepts=(0.2, 0.0, 0.5),
)
SIZE = Node(
    "size",
    "normal",
    parents=("y", "colour"),
    weights=(-0.7, 0.4),
    coefficients=(0.2, 1.0, 0.5),
    bias=0.1,
    scale=2.0,
    mu=-1.0,
    sd=0.6,
)
FLAG = Node("flag", "bernoulli", parents=("size",), weights=(1.0,), coefficients=(0.0, 1.0, 0.3), sine=False)
SMALL = BayesianNetwork((Y, COLOUR, SIZE, FLAG))


def slow_joint(network: BayesianNetwork, row: dict[str, float]) -> float:
    """p(x, y) of one row, written out with plain Python and scipy."""
    product = 1.0
    for node in network.nodes:
        h = sum(weight * row[parent] for weight, parent in zip(node.weights, node.parents, strict=True))
        h = np.sin(h) if node.sine else h
        g = (node.coefficients[0] + node.coefficients[1] * h + node.coefficients[2] * h * h + node.bias) * node.scale
        value = row[node.name]
        if node.kind == "normal":
            product *= stats.norm.pdf(value, g + node.mu, node.sd)
        elif node.kind == "bernoulli":
            product *= expit(g) if value == 1 else 1 - expit(g)
        else:
            product *= softmax([s * g + i for s, i in zip(node.slopes, node.intercepts, strict=True)])[int(value)]
    return float(product)


def slow_density(network: BayesianNetwork, row: dict[str, float]) -> float:
    return sum(slow_joint(network, {**row, "y": y}) for y in range(network.label.n_levels))


def test_density_sums_and_integrates_to_one() -> None:
    step = 0.01
    sizes = np.arange(-12, 12, step)
    total = 0.0
    for colour, flag in itertools.product("012", "01"):
        frame = pd.DataFrame({"colour": colour, "size": sizes, "flag": flag})
        total += np.exp(SMALL.log_density(frame)).sum() * step
    assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    "network",
    [
        SMALL,
        random_network(7, categorical_share=0.5, n_levels=[2, 3, 5], random_state=3),
        random_network(4, sine=False, random_state=4),
        BayesianNetwork(
            (
                Node("y", "categorical", slopes=(0.0, 1.0, 2.0), intercepts=(0.1, 0.2, 0.9)),
                Node("x1", "normal", parents=("y",), weights=(1.0,), coefficients=(0.0, 2.0, 0.0), sd=0.5),
            )
        ),
        BayesianNetwork(
            (
                Node("x1", "normal"),
                Node("y", "bernoulli", parents=("x1",), weights=(1.0,), coefficients=(0.0, 2.0, 0.0)),
                Node("x2", "normal", parents=("y", "x1"), weights=(0.5, 0.5), coefficients=(0.0, 2.0, 1.0)),
            )
        ),
    ],
    ids=["small", "random", "random without sine", "y of three levels", "y with a parent"],
)
def test_density_equals_slow_twin(network: BayesianNetwork) -> None:
    frame = network.sample(25, random_state=5)
    rows = frame.drop(columns="y").astype(float).to_dict("records")
    np.testing.assert_allclose(
        network.log_density(frame), [np.log(slow_density(network, row)) for row in rows], rtol=1e-10
    )


def test_sample_follows_density() -> None:
    """Cells of the discrete features and, in the largest cell, the normal one; false alarms of 1e-3 each."""
    n, step = 6000, 0.01
    frame = SMALL.sample(n, random_state=6)
    sizes = np.arange(-12, 12, step)
    cells = list(itertools.product("012", "01"))
    curves = {
        cell: np.exp(SMALL.log_density(pd.DataFrame({"colour": cell[0], "size": sizes, "flag": cell[1]}))) * step
        for cell in cells
    }
    counts = [((frame["colour"] == colour) & (frame["flag"] == flag)).sum() for colour, flag in cells]
    expected = np.array([curves[cell].sum() for cell in cells])
    assert stats.chisquare(counts, n * expected / expected.sum()).pvalue > 1e-3
    largest = cells[int(np.argmax(counts))]
    cdf = np.cumsum(curves[largest]) / curves[largest].sum()
    inside = frame[(frame["colour"] == largest[0]) & (frame["flag"] == largest[1])]["size"]
    assert stats.kstest(inside, lambda value: np.interp(value, sizes + step / 2, cdf)).pvalue > 1e-3


def test_columns_are_categories_and_label_is_integer() -> None:
    frame = SMALL.sample(200, random_state=7)
    assert list(frame["colour"].cat.categories) == ["0", "1", "2"]
    assert not frame["colour"].cat.ordered
    assert list(frame["flag"].cat.categories) == ["0", "1"]
    assert frame["size"].dtype == np.float64
    assert frame["y"].dtype == np.int64
    assert set(frame["y"]) == {0, 1}


def test_levels_may_be_text_or_numbers() -> None:
    frame = SMALL.sample(50, random_state=8)
    expected = SMALL.log_density(frame)
    for dtype in (float, int, object, str):
        other = frame.assign(colour=frame["colour"].astype(dtype), flag=frame["flag"].astype(dtype))
        np.testing.assert_array_equal(SMALL.log_density(other), expected)


def test_numbers_that_are_no_level_are_impossible() -> None:
    frame = pd.DataFrame({"colour": [0.0, 0.5, 3.0, -1.0], "size": 0.0, "flag": 1.0})
    assert np.isneginf(SMALL.log_density(frame)).tolist() == [False, True, True, True]


def test_unknown_text_level_is_an_error() -> None:
    with pytest.raises(DataError, match="unknown levels 'red'"):
        SMALL.log_density(pd.DataFrame({"colour": ["red"], "size": 0.0, "flag": "1"}))


def test_log_joint_sums_to_density() -> None:
    frame = SMALL.sample(20, random_state=9)
    joint = SMALL.log_joint(frame)
    assert joint.shape == (20, 2)
    np.testing.assert_allclose(np.log(np.exp(joint).sum(axis=1)), SMALL.log_density(frame), rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Node("a", "norml"), "Did you mean 'normal'"),
        (lambda: Node("a", "normal", parents=("y",)), "1 parents and 0 weights"),
        (lambda: Node("a", "normal", coefficients=(1.0, 2.0)), "2 coefficients"),
        (lambda: Node("a", "normal", sd=0.0), "above 0"),
        (lambda: Node("a", "categorical", slopes=(1.0,), intercepts=(1.0,)), "two levels or more"),
        (lambda: Node.from_dict({**COLOUR.to_dict(), "n_levels": 4}), "n_levels 4 and 3 slopes"),
        (lambda: BayesianNetwork((COLOUR, Y)), "before its parents 'y'"),
        (lambda: BayesianNetwork((Y, COLOUR, COLOUR)), "occurs twice"),
        (lambda: BayesianNetwork((Y,)), "at least one feature"),
        (lambda: BayesianNetwork((Node("y", "normal"), COLOUR)), "summed out"),
    ],
)
def test_malformed_networks_are_errors(make, message: str) -> None:
    with pytest.raises(DataError, match=message):
        make()
