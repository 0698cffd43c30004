"""Reports and letters about a result, as the library writes them."""

from __future__ import annotations

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.language import speaking
from countarfactuals.letter import make_letter
from countarfactuals.report import to_html
from countarfactuals.serve.answers import explainer_for
from countarfactuals.serve.messages import Letter, Report
from countarfactuals.serve.served import Served


def report(served: Served, asked: Report, result: Counterfactuals) -> str:
    """A report as HTML; its pictures show real rows where these may leave."""
    return to_html(
        result,
        explainer_for(served, asked) if served.shows_real_rows else None,
        title=asked.title,
        units=served.units,
        labels=served.labels_of(asked.labels),
        rows=served.rows_are,
        outcome=served.outcome,
        pictures=asked.pictures,
        meta=dict(served.facts),
        language=asked.language,
    )


def letter(served: Served, asked: Letter, result: Counterfactuals, *, is_html: bool) -> str:
    """A letter as HTML or plain text."""
    with speaking(asked.language):
        made = make_letter(
            result.labelled(served.labels_of(asked.labels)),
            explainer_for(served, asked),
            codes=None if asked.codes is None else dict(served.row_of(asked.codes)),
            protected=asked.protected,
            contact=asked.contact,
            sender=asked.sender,
            applicant=asked.applicant,
            reference=asked.reference,
            model=served.model,
            model_file=served.model_file,
            units=served.units,
            rows=served.rows_are,
            outcome=served.outcome,
        )
        return made.to_html() if is_html else made.to_text()
