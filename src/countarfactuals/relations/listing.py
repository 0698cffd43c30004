"""`Relations`: what was found, as data and as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from countarfactuals.exceptions import ParameterError, did_you_mean, listed
from countarfactuals.language import tr
from countarfactuals.relations.days import DayOf
from countarfactuals.relations.functions import Function
from countarfactuals.relations.implications import Implication
from countarfactuals.relations.linear import Linear
from countarfactuals.relations.orders import Order
from countarfactuals.relations.products import Product
from countarfactuals.relations.relation import Naming, Relation, plain_fields, restored

if TYPE_CHECKING:
    import pandas as pd

    from countarfactuals.language.vocabulary import Words
    from countarfactuals.schema import Schema

KINDS: dict[str, Any] = {kind.kind: kind for kind in (Linear, Product, DayOf, Function, Implication, Order)}


class Relations(Sequence[Relation]):
    """Relations of a table; a sequence of data, each with its phrase.

    Parameters
    ----------
    schema : of the columns that they speak of by position.
    items : the relations.
    """

    def __init__(self, schema: Schema, items: Iterable[Relation] = ()) -> None:
        self.schema = schema
        self.items = tuple(items)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Relation]:
        return iter(self.items)

    @overload
    def __getitem__(self, at: int) -> Relation: ...

    @overload
    def __getitem__(self, at: slice) -> Relations: ...

    def __getitem__(self, at: int | slice) -> Relation | Relations:
        return Relations(self.schema, self.items[at]) if isinstance(at, slice) else self.items[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Relations) and self.items == other.items

    def __hash__(self) -> int:
        return hash(self.items)

    def __repr__(self) -> str:
        return "\n".join(self.sentences()) or tr("No relations.")

    def phrase(self, relation: Relation, words: Words | None = None) -> str:
        """A relation of this table in words, as a part of a sentence."""
        return relation.phrase(Naming(self.schema, words))

    def phrases(self, words: Words | None = None) -> list[str]:
        """All of them in words, by which they can be asked for."""
        return [self.phrase(relation, words) for relation in self.items]

    def sentences(self, words: Words | None = None) -> list[str]:
        """All of them as sentences, with how many rows break them."""
        return [_sentence(relation, self.phrase(relation, words)) for relation in self.items]

    def to_frame(self) -> pd.DataFrame:
        """One line for each: kind, relation, columns, support, exceptions."""
        import pandas as pd

        return pd.DataFrame(
            {
                "kind": [relation.kind for relation in self.items],
                "relation": self.phrases(),
                "columns": [tuple(self.schema.names[j] for j in relation.columns) for relation in self.items],
                "support": [relation.support for relation in self.items],
                "exceptions": [relation.exceptions for relation in self.items],
            }
        )

    def chosen(self, wanted: Sequence[Relation | str]) -> Relations:
        """Those that are wanted, by themselves or by their phrases."""
        by_phrase = dict(zip(self.phrases(), self.items, strict=True))
        return Relations(self.schema, [self._found(relation, by_phrase) for relation in wanted])

    def _found(self, wanted: Relation | str, by_phrase: Mapping[str, Relation]) -> Relation:
        phrase = wanted if isinstance(wanted, str) else self.phrase(wanted)
        if phrase not in by_phrase:
            raise ParameterError(
                f"relations names {phrase!r}, which is no relation of the data; these are: "
                f"{listed(by_phrase) or 'none'}.{did_you_mean(phrase, by_phrase)} Choose from `relations_`."
            )
        return by_phrase[phrase]

    def to_list(self) -> list[dict[str, Any]]:
        """As plain JSON types."""
        return [plain_fields(relation) for relation in self.items]

    @classmethod
    def from_list(cls, schema: Schema, stored: Iterable[Mapping[str, Any]]) -> Relations:
        """The inverse of `to_list`."""
        fields = ({name: restored(value) for name, value in entry.items()} for entry in stored)
        return cls(schema, [KINDS[entry.pop("kind")](**entry) for entry in fields])


def _sentence(relation: Relation, phrase: str) -> str:
    if relation.exceptions == 0:
        return tr("In all rows {relation}.", relation=phrase)
    counts = {"n": f"{relation.exceptions:,}", "all": f"{relation.support:,}"}
    return tr("In all but {n} of {all} rows {relation}.", relation=phrase, **counts)
