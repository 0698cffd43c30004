"""The formats of results, one entry each: a name, suffixes of files, and how it is written.

   | format | one row | several rows |
   |---|---|---|
   | table | the result as it prints | one after the other, each under its label |
   | sentences | plain language | likewise |
   | json | the stored format of `Counterfactuals` | that of `CounterfactualsBatch` |
   | csv, parquet | a line per counterfactual: label of the row, number, features, measures | likewise |
   | html | a report | a report over all of them |

A plug-in adds one: a module that calls `register(Format("name", write))`, imported before `main` runs, or named by an
installed package in the entry-point group `countarfactuals.formats`. What takes long to import is imported when a
format is written, as help and wrong use are answered at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

from countarfactuals._optional import load_plug_ins
from countarfactuals.language import tr

if TYPE_CHECKING:
    from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
    from countarfactuals.counterfactuals.recourse import Recourse
    from countarfactuals.language.vocabulary import Unit, Words

PLUG_INS = "countarfactuals.formats"
ROWS = "rows"
_SENTENCES = 3


@dataclass(frozen=True)
class Output:
    """What is written.

    Parameters
    ----------
    batch : one result per row.
    explainer : for the pictures of a report.
    top : how many counterfactuals of each row are shown, None for all; of sentences, for three.
    units, rows, outcome : what things are called, see `describe`.
    facts : what is known of model and data, for the report.
    by : what recourse costs groups of rows, for the report.
    options : by setting, what a command line calls it.
    exact_cells : whether CSV has cells as they are, also where a spreadsheet would run them.
    """

    batch: CounterfactualsBatch
    explainer: Any = None
    top: int | None = None
    units: Mapping[Hashable, Unit] | None = None
    rows: Unit = ROWS
    outcome: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    by: tuple[Recourse, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    exact_cells: bool = False

    @property
    def selected(self) -> CounterfactualsBatch:
        """Of each row those counterfactuals that are shown."""
        if self.top is None:
            return self.batch
        return replace(self.batch, results=tuple(result.select(self.top) for result in self.batch))

    @property
    def only(self) -> Counterfactuals | CounterfactualsBatch:
        """The result of a single row, or the batch of several."""
        batch = self.selected
        return batch[0] if len(batch) == 1 and not batch.unfinished else batch

    @property
    def words(self) -> Words:
        """What things are called in plain text."""
        from countarfactuals.language.vocabulary import TEXT, words_of

        return words_of(self.batch[0].schema.names, self.units, self.rows, self.outcome, TEXT, self.options)


@dataclass(frozen=True)
class Format:
    """One format.

    Parameters
    ----------
    name : by which it is asked for, and a suffix of its files unless it is for readers of a terminal.
    write : from what is written to text, or to bytes.
    suffixes : further ones.
    is_readable : whether a reader of the terminal sees why nothing was found.
    """

    name: str
    write: Callable[[Output], str | bytes]
    suffixes: tuple[str, ...] = ()
    is_readable: bool = False


_FORMATS: dict[str, Format] = {}


def register(form: Format) -> Format:
    """Add a format, or replace the one of the same name."""
    _FORMATS[form.name] = form
    return form


def formats() -> Mapping[str, Format]:
    """All formats by name, those of installed plug-ins too; the first is the default."""
    load_plug_ins(PLUG_INS)
    return _FORMATS


def _table(output: Output) -> str:
    from countarfactuals.counterfactuals.display import result_text

    return _under_labels(output.batch.index, [result_text(result, output.words) for result in output.selected])


def _sentences(output: Output) -> str:
    from countarfactuals.counterfactuals.sentences import result_sentences

    words, top = output.words, output.top or _SENTENCES
    told = ["\n\n".join(result_sentences(result, result.positions(top), words)) for result in output.batch]
    return _under_labels(output.batch.index, told)


def _under_labels(labels: Sequence[Hashable], texts: list[str]) -> str:
    if len(texts) == 1:
        return texts[0] + "\n"
    headings = [tr("row {label}", label=label) for label in labels]
    return "\n\n".join(f"{line}\n{'─' * len(line)}\n{text}" for line, text in zip(headings, texts, strict=True)) + "\n"


def _csv(output: Output) -> str:
    from countarfactuals.cli.spreadsheets import csv_text

    return csv_text(output.selected.to_frame(objectives=True), exact=output.exact_cells)


def _html(output: Output) -> str:
    names: dict[str, Any] = {"units": output.units, "rows": output.rows, "outcome": output.outcome}
    by = list(output.by) or None
    return output.only.to_html(explainer=output.explainer, meta=output.facts, by=by, **names)


def _parquet(output: Output) -> bytes:
    written = BytesIO()
    output.selected.to_frame(objectives=True).to_parquet(written, engine="pyarrow", index=False)
    return written.getvalue()


register(Format("table", _table, ("txt",), is_readable=True))
register(Format("sentences", _sentences, ("md",), is_readable=True))
register(Format("json", lambda output: output.only.to_json() + "\n"))
register(Format("csv", _csv))
register(Format("html", _html, ("htm",)))
register(Format("parquet", _parquet, ("pq",)))
