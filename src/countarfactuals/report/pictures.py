"""Pictures inside the page: SVG in `data:` addresses, each with a text in its place for those who do not see it.

1. matplotlib is optional. Without it, or without the explainer that some pictures need, a sentence tells it.
2. An SVG in an image is a document of its own that can neither run scripts nor fetch anything; its letters are drawn as
   shapes, so that it looks alike everywhere. Without a date and with fixed ids, the same result gives the same bytes.
3. A picture that fails costs itself only: its place tells why.
4. The change table is not among them: it stands in the page as a table that can be read aloud.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.wording import joined, name_text, score_text, share_text
from countarfactuals.report.page import counted, paragraph, section, text

_FORMS = ("counterfactual", "counterfactuals")


@dataclass(frozen=True)
class Picture:
    """A picture that may be drawn.

    Parameters
    ----------
    caption : what it shows, one sentence.
    alt : what it says, in words.
    draw : the plotting module → axes.
    """

    caption: str
    alt: str
    draw: Callable[[Any], Any]


def pictures_section(pictures: Sequence[Picture], left_out: str) -> str:
    """The section with all pictures, or a sentence in their place; `left_out` tells what an explainer would add."""
    if not pictures:
        return ""
    plotting = _plotting()
    if plotting is None:
        sentence = (
            "Pictures are left out, as matplotlib is not installed. Install countarfactuals with its extra “plot”."
        )
        return section("pictures", "Pictures", paragraph(sentence, "quiet"))
    body = "\n".join(_figure(plotting, picture) for picture in pictures)
    return section(
        "pictures",
        "Pictures",
        paragraph("In the pictures x is the row, and # stands before the number of a counterfactual.", "quiet"),
        body,
        paragraph(text(left_out), "quiet") if left_out else "",
    )


def _plotting() -> Any:
    """The module that draws, None where matplotlib is not installed."""
    try:
        import_module("matplotlib")
        return import_module("countarfactuals.plotting")
    except ImportError:
        return None


def _figure(plotting: Any, picture: Picture) -> str:
    caption = f"<figcaption>{text(picture.caption)}</figcaption>"
    try:
        drawn = _svg(picture.draw(plotting))
    except Exception as error:
        sentence = paragraph(text(f"This picture could not be drawn: {type(error).__name__}: {error}", 300), "note")
        return f"<figure>{sentence}{caption}</figure>"
    source = f"data:image/svg+xml;base64,{base64.b64encode(drawn).decode()}"
    image = f'<img src="{source}" alt="{text(picture.alt)}">'
    # on a phone a picture keeps its size and scrolls, as its letters would be too small otherwise
    frame = f'<div class="scroll picture" role="group" aria-label="{text(picture.caption)}" tabindex="0">{image}</div>'
    return f"<figure>{frame}{caption}</figure>"


def _svg(axes: Any) -> bytes:
    from matplotlib import pyplot, rc_context

    figure, written = axes.figure, io.BytesIO()
    try:
        with rc_context({"svg.fonttype": "path", "svg.hashsalt": "countarfactuals"}):
            figure.savefig(written, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    finally:
        pyplot.close(figure)
    return written.getvalue()


def result_pictures(result: Counterfactuals, explainer: Any) -> tuple[list[Picture], str]:
    """The pictures of one result, and what is left out without an explainer."""
    if not len(result):
        return [], ""
    pictures = [
        Picture(
            "Each point is a counterfactual: how typical it is, how far from the row, and how much it changes.",
            _pareto_alt(result),
            lambda plotting: plotting.plot_pareto(result),
        ),
        Picture(
            "How often each feature changes.",
            _frequency_alt([result]),
            lambda plotting: plotting.plot_frequency(result),
        ),
        Picture(
            "The row and its counterfactuals as lines through the features that change most often.",
            f"Parallel coordinates of the row and {counted(len(result), _FORMS)}. {_frequency_alt([result])}",
            lambda plotting: plotting.plot_parallel(result, explainer),
        ),
    ]
    if "history" in result.provenance:
        pictures.append(
            Picture(
                "How the search went on, generation by generation.",
                "The hypervolume of the counterfactuals found, over the generations of the search.",
                lambda plotting: plotting.plot_history(result),
            )
        )
    if explainer is None:
        return pictures, (
            "Two more pictures, of the prediction over two features and of the place of each counterfactual among the "
            "real rows, need the explainer, which was not given."
        )
    pictures[1:1] = [
        Picture(
            "Where each counterfactual stands among the real rows.",
            f"Plausibility of the real rows, with the row at {share_text(result.x_typicality)} and "
            f"{counted(len(result), _FORMS)} {_from_to(result.typicality, share_text)} typicality.",
            lambda plotting: plotting.plot_density_strip(result, explainer),
        ),
        Picture(
            "The prediction over the two features that change most often, all others as in the row, with real rows.",
            f"The prediction over two features, with the row and {counted(len(result), _FORMS)} on it. "
            f"{_frequency_alt([result])}",
            lambda plotting: plotting.plot_surface(result, explainer),
        ),
    ]
    return pictures, ""


def batch_pictures(batch: CounterfactualsBatch) -> list[Picture]:
    """The pictures of a batch."""
    if not any(map(len, batch.results)):
        return []
    return [
        Picture(
            "How often each feature changes in the counterfactuals of a row, on average over the rows.",
            _frequency_alt(batch.results),
            lambda plotting: plotting.plot_frequency(batch),
        )
    ]


def _pareto_alt(result: Counterfactuals) -> str:
    distance = result.objectives.get("proximity")
    parts = [f"typicality {_from_to(result.typicality, share_text)}"]
    parts += [] if distance is None else [f"distance {_from_to(distance, score_text)}"]
    parts.append(f"features changed {_from_to(result.changed.sum(axis=1), lambda n: f'{n:.0f}')}")
    return f"{counted(len(result), _FORMS)}: {joined(parts)}. The table of all counterfactuals has the numbers."


def _frequency_alt(results: Sequence[Counterfactuals]) -> str:
    names = next((result.schema.names for result in results), ())
    often = np.mean([result.changed.mean(axis=0) for result in results if len(result)], axis=0)
    top = [j for j in np.argsort(-often, kind="stable").tolist() if often[j] > 0][:5]
    return (
        f"Most often changed: {joined([f'{name_text(names[j], 40)} in {share_text(float(often[j]))}' for j in top])}."
    )


def _from_to(values: np.ndarray, written: Callable[[float], str]) -> str:
    known = values[~np.isnan(values)]
    if not known.size:
        return "not known"
    low, high = written(float(known.min())), written(float(known.max()))
    return f"from {low} to {high}" if low != high else f"of {low}"
