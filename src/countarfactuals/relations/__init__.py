"""Relations between columns that every row of the data keeps and chance would break.

- `relation`: what a relation is: an order of two numbers, or a level that implies another.
- `discovery`: which ones a table has.
"""

from countarfactuals.relations.discovery import discover
from countarfactuals.relations.relation import Implication, Order, Relation

__all__ = ["Implication", "Order", "Relation", "discover"]
