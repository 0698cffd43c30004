"""Relations between columns that all rows of the data keep, or all but few, and chance would break.

- `relation`: what every kind tells; `chance`: when one counts; `table`: where they are looked for.
- `orders`, `days`, `linear`, `products` (both are a `formula`), `implications`, `functions`: the kinds, one file each,
  with how they are found.
- `discovery`: all of them, without those that follow from others; `listing`: `Relations`, what was found.
"""

from countarfactuals.relations.days import DayOf
from countarfactuals.relations.discovery import discover
from countarfactuals.relations.formula import Formula
from countarfactuals.relations.functions import Function
from countarfactuals.relations.implications import Implication
from countarfactuals.relations.linear import Linear
from countarfactuals.relations.listing import Relations
from countarfactuals.relations.orders import Order
from countarfactuals.relations.products import Product
from countarfactuals.relations.relation import Naming, Relation

__all__ = [
    "DayOf",
    "Formula",
    "Function",
    "Implication",
    "Linear",
    "Naming",
    "Order",
    "Product",
    "Relation",
    "Relations",
    "discover",
]
