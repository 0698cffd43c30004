"""A letter on paper: plain text in lines of at most 78 columns, and HTML that prints on A4.

The page is made as those of reports are: what a template prints is escaped, the style stands inside, and a
Content-Security-Policy names it by its hash and forbids all else. There is no script.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from jinja2 import Environment

from countarfactuals.language.spelling import one_line, width
from countarfactuals.letter.contents import Letter
from countarfactuals.letter.wording import Section, head, sections
from countarfactuals.report.page import asset, environment

WIDTH = 78
_ITEM, _INDENT = "- ", "  "


def html(letter: Letter) -> str:
    """The whole page."""
    return _environment().get_template("letter.html.j2").render(head=head(letter), sections=sections(letter))


@cache
def _environment() -> Environment:
    made = environment("countarfactuals.letter")
    made.globals["style"] = asset("countarfactuals.letter", "letter.css")
    return made


def text(letter: Letter) -> str:
    """The whole letter; lines end with a line feed, also the last."""
    top = head(letter)
    blocks = [_fields(top.fields), [top.title, "=" * width(top.title)]]
    blocks += [list(_section(section)) for section in sections(letter)]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _fields(fields: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Names in one column, their lines in the next."""
    widest = max(width(name) for name, _ in fields) + 2
    lines = []
    for name, values in fields:
        wrapped_values = [part for value in values for part in wrapped(value, WIDTH - widest)]
        heads = [f"{name}:{' ' * (widest - width(name) - 1)}", *([" " * widest] * len(wrapped_values))]
        lines += [(begin + part).rstrip() for begin, part in zip(heads, wrapped_values or [""], strict=False)]
    return lines


def _section(section: Section) -> Iterator[str]:
    yield section.heading
    yield "-" * width(section.heading)
    for paragraph in section.paragraphs:
        yield from wrapped(paragraph, WIDTH)
    for item in section.items:
        first, *rest = wrapped(item, WIDTH - len(_ITEM))
        yield _ITEM + first
        yield from (_INDENT + line for line in rest)
    for name, value in section.facts:
        yield from _fact(name, value)


def _fact(name: str, value: str) -> Iterator[str]:
    """A name with its value, below it where both do not fit on a line."""
    together = one_line(f"{name}: {value}")
    if width(together) <= WIDTH:
        yield together
        return
    yield from wrapped(f"{name}:", WIDTH)
    yield from (_INDENT + line for line in wrapped(value, WIDTH - len(_INDENT)))


def wrapped(paragraph: str, room: int) -> list[str]:
    """Lines of at most so many columns, of which wide characters take two; words that are longer are divided.

    >>> wrapped("a letter that can be sent", 10)
    ['a letter', 'that can', 'be sent']
    >>> wrapped("abcdefgh", 3)
    ['abc', 'def', 'gh']
    """
    lines = [""]
    for word in one_line(paragraph).split(" "):
        for part in _parts(word, room):
            joined = f"{lines[-1]} {part}" if lines[-1] else part
            if width(joined) <= room:
                lines[-1] = joined
            else:
                lines.append(part)
    return lines


def _parts(word: str, room: int) -> list[str]:
    """A word in pieces that fit."""
    parts = [""]
    for character in word:
        if width(parts[-1] + character) > room:
            parts.append("")
        parts[-1] += character
    return parts
