"""What a result and a batch share: a report of themselves."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from countarfactuals.language import Language


class Reportable:
    """Something that `countarfactuals.report` can write about."""

    def to_html(
        self,
        explainer: Any = None,
        *,
        title: str | None = None,
        k: int = 3,
        units: Mapping[Hashable, Any] | None = None,
        labels: Mapping[Hashable, Any] | None = None,
        rows: Any = "rows",
        outcome: str | None = None,
        prefer: str | Mapping[str, float] | None = None,
        pictures: bool = True,
        meta: Mapping[str, str] | None = None,
        by: Any = None,
        language: Language | None = None,
    ) -> str:
        """A report as one HTML document; for the parameters see `countarfactuals.report.to_html`."""
        from countarfactuals.report import to_html

        subject: Any = self  # a result or a batch: both are made below this file
        return to_html(
            subject,
            explainer,
            title=title,
            k=k,
            units=units,
            labels=labels,
            rows=rows,
            outcome=outcome,
            prefer=prefer,
            pictures=pictures,
            meta=meta,
            by=by,
            language=language,
        )
