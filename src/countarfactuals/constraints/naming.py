"""How constraints write names, levels and numbers: as Python does, or in the words of a reader."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from countarfactuals.language import tr

from .clause import is_missing, plain

if TYPE_CHECKING:
    from countarfactuals.language.vocabulary import Words
    from countarfactuals.schema import Schema


class Wording:
    """Plain text: whoever shows it escapes it.

    Parameters
    ----------
    words : what a reader calls things, with units; None for names as Python writes them and numbers as they are.
    schema : where columns and levels have their labels; None for names as they were said.
    """

    def __init__(self, words: Words | None = None, schema: Schema | None = None) -> None:
        from countarfactuals.language import spelling  # takes long to import, and options need kinds at once

        self.values = spelling
        self.words = None if words is None else words.plain
        self.columns = {} if schema is None else {column.name: column for column in schema.columns}

    def name(self, name: Hashable) -> str:
        """The name of a column."""
        column = self.columns.get(name)
        if self.words is None:
            return repr(plain(name if column is None else column.title))
        return self.words.written(self.values.name_text(name)) if column is None else self.words.title(column)

    def text(self, text: str) -> str:
        """A text of the user's on one line."""
        return self.values.one_line(text)

    def names(self, names: Sequence[Hashable]) -> str:
        """Names with "and" before the last."""
        return self.values.joined([self.name(name) for name in names])

    def level(self, level: Any, column: Hashable) -> str:
        """A level of a column, in quotes if it is text."""
        if is_missing(level):
            return tr("missing")
        found = self.columns.get(column)
        code = None if found is None or found.is_number else found.codes.get(level)
        title = level if found is None or code is None else found.title_of(code)
        return self.values.one_line(repr(plain(title)))

    def levels(self, levels: Iterable[Any], column: Hashable) -> str:
        """Levels of a column with "or" before the last."""
        *others, last = [self.level(level, column) for level in levels]
        return tr("{first} or {last}", first=", ".join(others), last=last) if others else last

    def amounts(self, name: Hashable, values: Sequence[Any]) -> list[str]:
        """Numbers of a column, with separators and units for a reader; levels as they are."""
        texts = [self.values.one_line(plain(value)) for value in values]
        if self.words is None or not all(isinstance(value, Real) for value in values):
            return texts
        return [self.words.amount(name, text) for text in self.values.number_texts(texts)]
