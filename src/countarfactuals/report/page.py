"""Pages: templates with autoescape, filled with plain data.

1. `templates/page.html.j2` frames every page. Style and script stand inside it. A Content-Security-Policy names them by
   their hashes and forbids all else: nothing is fetched, and a script that came in with the data would not run.
2. What a template prints is brought on one line and escaped, unless it is `Markup`: made by a template, or a sentence
   that escapes the user's words itself.
3. A table that can be sorted has `Head`s with keys, and `Filter`s, its sliders; both go to the script as JSON.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from countarfactuals.language import counted, spoken, tr
from countarfactuals.language.spelling import one_line, share_text

NAME = 60  # characters of a name or value that are shown
_STEPS = 50  # about as many steps has a slider


class Head(NamedTuple):
    """The head of a column: its text, its class, and what rows are sorted by; NaN comes last."""

    text: str
    kind: str = ""
    keys: Sequence[float | str] | None = None


@dataclass(frozen=True)
class Filter:
    """A slider: rows pass whose value is at least, or at most, what it says.

    Parameters
    ----------
    name : in the page.
    phrase : what it asks for, with a place for {limit}.
    """

    name: str
    phrase: str
    values: np.ndarray
    low: float
    high: float
    step: float = 1.0
    is_least: bool = False
    unit: str = ""

    @property
    def way(self) -> str:
        """For the script."""
        return "least" if self.is_least else "most"

    @property
    def start(self) -> str:
        """Where it lets all rows pass."""
        return self.written(self.low if self.is_least else self.high)

    @property
    def shown(self) -> str:
        """The same for readers."""
        return f"{spoken().number(self.start)}{self.unit}"

    def written(self, number: float) -> str:
        """A number with the decimals of a step."""
        return f"{number:.{max(0, -math.floor(math.log10(self.step)))}f}"


def cost_filter(name: str, phrase: str, values: np.ndarray) -> Filter:
    """For numbers of which small ones are better, from the smallest to the largest in round steps."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    step = 10.0 ** math.floor(math.log10((high - low) / _STEPS)) if high > low else 1.0
    return Filter(name, phrase, values, math.floor(low / step) * step, math.ceil(high / step) * step, step)


def script_data(heads: Sequence[Head], filters: Sequence[Filter]) -> dict[str, dict[str, list[float | str | None]]]:
    """What the script sorts and filters by."""
    return {
        "sort": {str(j): _plain(head.keys) for j, head in enumerate(heads) if head.keys is not None},
        "filter": {filter.name: _plain(filter.values) for filter in filters},
    }


def _plain(values: Sequence[float | str] | np.ndarray) -> list[float | str | None]:
    """For JSON, which knows no NaN; what is infinite is sorted as the largest number."""
    return [_number(value) if isinstance(value, float) else value for value in np.asarray(values).tolist()]


def _number(value: float) -> float | None:
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else math.copysign(1.7e308, value)


def asset(package: str, name: str) -> Markup:
    """A style sheet or a script of a package, as it stands in a page."""
    return Markup("\n" + files(package).joinpath(name).read_text(encoding="utf-8"))


def _hash(content: str) -> Markup:
    return Markup(f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'")


def short(value: Any, most: int = NAME) -> str:
    """A text on one line, its middle left out where it is too long."""
    return one_line(value, most)


def breakable(value: Any, most: int | None = None) -> Markup:
    """A name that may be broken after each underscore, so that long ones do not widen a narrow page.

    >>> breakable("monthly_<income>")
    Markup('monthly_<wbr>&lt;income&gt;')
    """
    return text(value, most).replace("_", Markup("_<wbr>"))


def text(value: Any, most: int | None = None) -> Markup:
    """Anything as text inside HTML, escaped as sentences are.

    >>> text('<b> & "c"')
    Markup('&lt;b&gt; &amp; &quot;c&quot;')
    """
    return value if isinstance(value, Markup) else Markup(escape(one_line(value, most)))


def environment(package: str) -> Environment:
    """What fills the templates of a package: all is escaped, and nothing is left undefined."""
    made = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=text,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.policies["json.dumps_kwargs"] = {"allow_nan": False}
    made.filters |= {"breakable": breakable, "share": share_text, "short": short}
    made.globals |= {"tr": tr, "counted": counted, "language": lambda: spoken().code, "hash": _hash}
    return made


@cache
def _environment() -> Environment:
    made = environment("countarfactuals.report")
    made.globals |= {
        "head": Head,
        "script_data": script_data,
        "style": asset("countarfactuals.report", "page.css"),
        "script": asset("countarfactuals.report", "page.js"),
    }
    return made


def render(template: str, **data: Any) -> str:
    """A whole page."""
    return _environment().get_template(f"{template}.html.j2").render(data)


def part(name: str, *values: Any) -> Markup:
    """A piece of a page, by its name among the parts."""
    made: Markup = getattr(_environment().get_template("parts.html.j2").module, name)(*values)
    return made


# For pages that are put together of HTML, which must be safe already


def page(title: str, sections: Iterable[str]) -> str:
    """The whole document."""
    return render("page", title=title, sections=[Markup(section) for section in sections])


def cell(html: str, kind: str = "") -> str:
    """A cell of a table."""
    return part("cell", Markup(html), kind)


def plain_table(caption: str, heads: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """A table in its region: heads as (text, class), rows as HTML, of which the first cell is the row's head."""
    body = "".join(f'<tr><th scope="row">{first}</th>{"".join(rest)}</tr>' for first, *rest in rows)
    return part("filled_table", caption, [Head(*head) for head in heads], kind, Markup(body))


def facts(caption: str, heads: tuple[str, str], rows: Sequence[tuple[str, str]]) -> str:
    """A table of names and values; nothing without rows."""
    cells = [(breakable(what), cell(text(value))) for what, value in rows]
    return plain_table(caption, [(head, "") for head in heads], cells, "facts") if cells else ""
