"""The frame of a page, and the pieces that its sections are made of.

1. Style and script stand inside the page. A Content-Security-Policy names them by their hashes and forbids all else:
   nothing is fetched, and a script that came in with the data would not run.
2. Texts pass `text`, which escapes them; data for the script passes `data_block`, which escapes JSON for HTML.
3. Tables lie in regions that scroll on their own, so the page itself never scrolls sideways.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from countarfactuals.counterfactuals.wording import one_line

_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def text(value: Any, most: int | None = None) -> str:
    """Anything as text inside HTML, also inside an attribute in double quotes.

    >>> text('<b> & "c"')
    '&lt;b&gt; &amp; &quot;c&quot;'
    """
    return escape(one_line(value, most))


def breakable(value: Any, most: int | None = None) -> str:
    """A name as text that may be broken after each underscore, so that long ones do not widen a narrow page.

    >>> breakable("monthly_income")
    'monthly_<wbr>income'
    """
    return text(value, most).replace("_", "_<wbr>")


def data_block(table_id: str, data: Any) -> str:
    """Data for the script, for the table of this id.

    No `<` is left in it, so that neither `</script>` nor `<!--` can end or change the block.

    >>> data_block("t", ["</script>"])
    '<script type="application/json" data-for="t">["\\\\u003c/script\\\\u003e"]</script>'
    """
    written = json.dumps(data, allow_nan=False).translate(_UNSAFE)
    return f'<script type="application/json" data-for="{escape(table_id)}">{written}</script>'


@cache
def _asset(name: str) -> str:
    return files("countarfactuals.report").joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def page(title: str, sections: Iterable[str]) -> str:
    """The whole document."""
    style, script = f"\n{_asset('page.css')}", f"\n{_asset('page.js')}"
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    body = "\n".join(part for part in sections if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<title>{text(title)}</title>\n<link rel="icon" href="data:,">\n<style>{style}</style>\n</head>\n'
        f"<body>\n<main>\n<h1>{text(title)}</h1>\n{body}\n</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )


def section(anchor: str, heading: str, *parts: str) -> str:
    """A section with its heading; nothing without content."""
    body = "\n".join(part for part in parts if part)
    if not body:
        return ""
    return f'<section aria-labelledby="{anchor}">\n<h2 id="{anchor}">{text(heading)}</h2>\n{body}\n</section>'


def paragraph(html: str, kind: str = "") -> str:
    """A paragraph of HTML that is safe already."""
    return f"<p{_class(kind)}>{html}</p>"


def bullets(items: Iterable[str]) -> str:
    """A list of HTML that is safe already; nothing without items."""
    body = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{body}</ul>" if body else ""


def region(label: str, table: str) -> str:
    """A table in a region that scrolls sideways, also by keyboard."""
    return f'<div class="scroll" role="region" aria-label="{text(label)}" tabindex="0">{table}</div>'


def plain_table(caption: str, heads: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """A table in its region: heads as (text, class), rows as HTML, of which the first cell is the row's head."""
    cells = "".join(
        f'<th scope="col"{_class(one)}>{breakable(head)}</th>' if head else "<td></td>" for head, one in heads
    )
    body = "".join(f'<tr><th scope="row">{first}</th>{"".join(rest)}</tr>' for first, *rest in rows)
    table = f"<table{_class(kind)}><caption><span>{text(caption)}</span></caption><thead><tr>{cells}</tr></thead>"
    return region(caption, f"{table}<tbody>{body}</tbody></table>")


def facts(caption: str, heads: tuple[str, str], rows: Sequence[tuple[str, str]]) -> str:
    """A table of names and values; nothing without rows."""
    cells = [(breakable(what), cell(text(value))) for what, value in rows]
    return plain_table(caption, [(head, "") for head in heads], cells, "facts") if cells else ""


def bar(share: float) -> str:
    """A share as a bar; the number stands beside it, so it is hidden from screen readers."""
    return (
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        f'<rect class="all" width="100" height="8"/><rect class="part" width="{share * 100:.1f}" height="8"/></svg>'
    )


def cell(html: str, kind: str = "") -> str:
    """A cell of a table."""
    return f"<td{_class(kind)}>{html}</td>"


def spoken(html: str) -> str:
    """What is read aloud but not shown."""
    return f'<span class="hidden">{html}</span>'


def folded(summary: str, *parts: str) -> str:
    """What is shown when its one line is clicked, both as HTML that is safe already."""
    return f"<details><summary>{summary}</summary>{''.join(parts)}</details>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def counted(count: int, forms: Sequence[str]) -> str:
    """A number with its noun.

    >>> counted(1, ("row", "rows")), counted(1200, ("row", "rows"))
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {forms[0] if count == 1 else forms[1]}"
