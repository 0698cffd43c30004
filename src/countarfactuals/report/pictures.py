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
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.recourse import Recourse
from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import joined, name_text, score_text, share_text
from countarfactuals.plausibility.judgement import measure_text
from countarfactuals.report.page import short


@dataclass(frozen=True)
class Figure:
    """A picture in the page.

    Parameters
    ----------
    caption : what it shows, one sentence.
    alt : what it says, in words.
    plot, subject : the function of `plotting` that draws it, and what of.
    source, error : the picture itself, or why there is none.
    """

    caption: str
    alt: str
    plot: str
    subject: tuple[Any, ...]
    source: str = ""
    error: str = ""

    def drawn(self, plotting: Any) -> Figure:
        """The same with its source, or its error."""
        try:
            svg = _svg(getattr(plotting, self.plot)(*self.subject))
        except Exception as error:
            sentence = tr("This picture could not be drawn: {error}", error=f"{type(error).__name__}: {error}")
            return replace(self, error=short(sentence, 300))
        return replace(self, source=f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}")


def _svg(axes: Any) -> bytes:
    from matplotlib import pyplot, rc_context

    figure, written = axes.figure, io.BytesIO()
    try:
        with rc_context({"svg.fonttype": "path", "svg.hashsalt": "countarfactuals"}):
            figure.savefig(written, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    finally:
        pyplot.close(figure)
    return written.getvalue()


def pictures_of(
    subject: Counterfactuals | CounterfactualsBatch, explainer: Any, groups: Sequence[Recourse] = ()
) -> dict[str, Any] | None:
    """All figures of a report, and what is left out without an explainer; no figures where nothing can draw them."""
    is_batch = isinstance(subject, CounterfactualsBatch)
    results = subject.results if isinstance(subject, CounterfactualsBatch) else (subject,)
    if not any(map(len, results)) and not groups:
        return None
    try:
        import_module("matplotlib")
        plotting = import_module("countarfactuals.plotting")
    except ImportError:
        return {"figures": []}
    figures = _of_batch(results, subject, groups) if is_batch else _of_result(results[0], explainer)
    left_out = tr(
        "Two more pictures, of the prediction over two features and of the place of each counterfactual among the real "
        "rows, need the explainer, which was not given."
    )
    return {
        "figures": [figure.drawn(plotting) for figure in figures],
        "left_out": left_out if explainer is None and not is_batch else "",
    }


def _of_batch(results: Sequence[Counterfactuals], batch: Any, groups: Sequence[Recourse]) -> list[Figure]:
    caption = tr(
        "How often and how far each feature changes in the counterfactuals of a row, on average over the rows."
    )
    often = (
        [Figure(caption, _frequency_alt(results), "plot_change_importance", (batch,))] if any(map(len, results)) else []
    )
    return [*often, *map(_of_groups, groups)]


def _of_groups(recourse: Recourse) -> Figure:
    name = name_text(recourse.column.name, 60)
    caption = tr("What recourse costs by {column}: each dot is a group, with its interval.", column=name)
    alt = tr("Dots with intervals for each {column}. The table of groups has the numbers.", column=name)
    return Figure(caption, alt, "plot_recourse", (recourse,))


def _of_result(result: Counterfactuals, explainer: Any) -> list[Figure]:
    often = _frequency_alt([result])
    count = counted(len(result), "{n:,} counterfactual", "{n:,} counterfactuals")
    strip = Figure(
        tr("Where each counterfactual stands among the real rows."),
        tr(
            "The real rows by {measure}, with the row and {count} among them.",
            measure=measure_text(result.measure),
            count=count,
        ),
        "plot_density_strip",
        (result, explainer),
    )
    surface = Figure(
        tr("The prediction over the two features that change most often, all others as in the row, with real rows."),
        tr("The prediction over two features, with the row and {count} on it. {often}", count=count, often=often),
        "plot_surface",
        (result, explainer),
    )
    course = Figure(
        tr("How the search went on, generation by generation."),
        tr("The hypervolume of the counterfactuals found, over the generations of the search."),
        "plot_history",
        (result,),
    )
    return [
        Figure(
            tr("Each point is a counterfactual: how typical it is, how far from the row, and how much it changes."),
            _pareto_alt(result, count),
            "plot_pareto",
            (result,),
        ),
        *([] if explainer is None else [strip, surface]),
        Figure(tr("How often each feature changes."), often, "plot_frequency", (result,)),
        Figure(
            tr("The row and its counterfactuals as lines through the features that change most often."),
            tr("Parallel coordinates of the row and {count}. {often}", count=count, often=often),
            "plot_parallel",
            (result, explainer),
        ),
        *([course] if "history" in result.provenance else []),
    ]


def _pareto_alt(result: Counterfactuals, count: str) -> str:
    distance = result.objectives.get("distance")
    parts = [
        tr("typicality {span}", span=_span(result.typicality, share_text)),
        *([] if distance is None else [tr("distance {span}", span=_span(distance, score_text))]),
        tr("features changed {span}", span=_span(result.n_changed, "{:.0f}".format)),
    ]
    return tr("{count}: {spans}. The table of all counterfactuals has the numbers.", count=count, spans=joined(parts))


def _frequency_alt(results: Sequence[Counterfactuals]) -> str:
    names = results[0].schema.titles
    often = np.mean([result.changed.mean(axis=0) for result in results if len(result)], axis=0)
    top = [j for j in np.argsort(-often, kind="stable").tolist() if often[j] > 0][:5]
    shares = [tr("{name} in {share}", name=name_text(names[j], 40), share=share_text(float(often[j]))) for j in top]
    return tr("Most often changed: {shares}.", shares=joined(shares))


def _span(values: np.ndarray, written: Callable[[float], str]) -> str:
    known = values[~np.isnan(values)]
    if not known.size:
        return tr("not known")
    low, high = written(float(known.min())), written(float(known.max()))
    return tr("from {low} to {high}", low=low, high=high) if low != high else tr("of {low}", low=low)
