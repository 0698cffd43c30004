"""Numbers, shares, money and dates as languages write them."""

from __future__ import annotations

import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from babel.numbers import parse_decimal
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals.language import catalogue_of, counted, speaking, tr
from countarfactuals.language.spelling import (
    cell_texts,
    count_text,
    date_text,
    number_texts,
    one_line,
    outcome_texts,
    score_text,
    score_texts,
    share_text,
    value_texts,
)
from countarfactuals.language.vocabulary import TEXT, words_of
from countarfactuals.schema import Column, Kind

NUMBERS = st.decimals(-(10**9), 10**9, places=3, allow_nan=False).map(lambda number: f"{number:.3f}")
SPACE = "\N{NO-BREAK SPACE}"


@given(NUMBERS, st.sampled_from(["de", "de-AT", "en-US"]), st.booleans())
def test_no_digit_is_lost(text: str, code: str, grouped: bool):
    written = catalogue_of(code).number(text, grouped)
    assert parse_decimal(written, locale=code.replace("-", "_")) == Decimal(text)
    assert len([c for c in written if c.isdigit()]) == len([c for c in text if c.isdigit()])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=3), st.sampled_from([None, 0, 2]))
def test_values_are_told_alike_again_in_each_language(values: list[float], decimals: int | None):
    """What was told is kept, for the language and the decimals that it was told in."""
    told = {}
    for code in ("en", "de", "en", "de"):
        with speaking(code):
            texts = value_texts(Column("n", Kind.REAL, decimals=decimals), values)
            assert told.setdefault(code, texts) == texts
            assert value_texts(Column("n", Kind.REAL, decimals=decimals), values[::-1]) == texts[::-1]
    assert [text.translate(str.maketrans(",.", ".,")) for text in told["en"]] == told["de"]


@given(NUMBERS)
def test_english_is_what_python_writes(text: str):
    assert catalogue_of("en").number(text, grouped=True) == f"{Decimal(text):,}"
    assert catalogue_of("en").number(text) == text


@pytest.mark.parametrize("text", ["", "–", "inf", "nan", "(missing)", "1.2.3", "12 months"])
def test_what_is_no_number_stays(text: str):
    assert catalogue_of("de").number(text, grouped=True) == text


def test_texts_of_cells_scores_and_outcomes():
    income = Column("income", Kind.REAL, decimals=2)
    with speaking("de"):
        assert cell_texts(income, [41200.5, 36000.0]) == ["41200,50", "36000,00"]
        assert value_texts(income, [41200.5, 36000.0]) == ["41.200,50", "36.000,00"]
        assert value_texts(income, [41200.0, 36000.0]) == ["41.200", "36.000"]
        assert value_texts(Column("year", Kind.INTEGER), [1998.0]) == ["1998"]
        assert value_texts(Column("owner", Kind.BOOLEAN, levels=(False, True)), [1.0, 0.0]) == ["wahr", "falsch"]
        assert cell_texts(Column("x", Kind.REAL), [2.5e9]) == ["2,5e+09"]
        assert score_texts([0.7141, 0.7139]) == ["0,7141", "0,7139"]
        assert score_texts([1234.5, 2.0]) == ["1.234,5", "2,000"]
        assert score_text(0.0002) == "0,0002"
        assert outcome_texts([0.25, 0.5]) == ["0,25", "0,50"]
        assert number_texts(["1234.50", "2.25"]) == ["1.234,50", "2,25"]
        assert count_text(12345) == "12.345"
        assert [share_text(share) for share in (0.614, 0.0004, 0.9999)] == [
            f"61{SPACE}%",
            f"<1{SPACE}%",
            f">99{SPACE}%",
        ]


def test_numbers_inside_phrases():
    with speaking("de"):
        assert tr("{shown:,} of {n:,} shown", shown=1200, n=34567) == "1.200 von 34.567 gezeigt"
        assert counted(1, "{n:,} row", "{n:,} rows") == "1 row"  # not among the phrases
        assert tr("{a} {b:.2f} {c!r} {d}", a=True, b=1.5, c="1.5", d="1.5") == "True 1,50 '1.5' 1.5"


@pytest.mark.parametrize(
    ("code", "unit", "text", "written"),
    [
        ("en", "€", "1,234.50", "€1,234.50"),
        ("en", "EUR", "-1,234.50", "-€1,234.50"),
        ("en", "CHF", "12", f"CHF{SPACE}12"),
        ("en", "USD", "12", "$12"),
        ("en", "months", "12", "12 months"),
        ("en", "BMI", "12", "12 BMI"),
        ("de", "€", "1.234,50", f"1.234,50{SPACE}€"),
        ("de", "EUR", "-12", f"-12{SPACE}€"),
        ("de", "USD", "12", f"12{SPACE}$"),
        ("de", "Monate", "12", "12 Monate"),
        ("de-AT", "EUR", "12", f"€{SPACE}12"),
        ("de-CH", "CHF", "12", f"CHF{SPACE}12"),
    ],
)
def test_money(code: str, unit: str, text: str, written: str):
    with speaking(code):
        words = words_of(["pay"], {"pay": (unit, unit)}, "rows", None, TEXT)
        assert words.amount("pay", text) == written


def test_money_is_said_with_both_numbers():
    words = words_of(["pay"], {"pay": "EUR"}, "rows", None, TEXT)
    assert words.instead("pay", "2", "1") == "€2 instead of €1"


def test_dates():
    day = datetime.date(2026, 3, 5)
    moment = datetime.datetime(2026, 3, 5, 7, 8, 9, tzinfo=datetime.UTC)
    for code, date, time in (
        ("en", "5 March 2026", "5 March 2026, 07:08:09 UTC"),
        ("de", "5. März 2026", "5. März 2026, 07:08:09 UTC"),
        ("en-US", "March 5, 2026", "March 5, 2026, 7:08:09\N{NARROW NO-BREAK SPACE}AM UTC"),
    ):
        with speaking(code):
            assert date_text(day) == date
            # Babel's own sign between day and hour differs from version to version
            assert catalogue_of(code).moment(moment).replace(" um ", ", ") == time


def test_moments_of_the_data():
    day, noon = datetime.date(2026, 3, 5), datetime.datetime(2026, 3, 5, 12, 30)
    later = noon.replace(second=9)
    assert [catalogue_of("en").stamp(when) for when in (day, noon, later)] == [
        "2026-03-05", "2026-03-05 12:30", "2026-03-05 12:30:09",
    ]  # fmt: skip
    assert [catalogue_of("de").stamp(when) for when in (day, noon, later)] == [
        "05.03.2026", "05.03.2026 12:30", "05.03.2026 12:30:09",
    ]  # fmt: skip
    zoned = noon.replace(tzinfo=ZoneInfo("Europe/Berlin"))
    assert catalogue_of("en").stamp(zoned) == "2026-03-05 12:30 CET"
    assert catalogue_of("de").stamp(zoned) == "05.03.2026 12:30 CET"


def test_blanks_of_numbers_are_kept_on_a_line():
    assert one_line(f"12{SPACE}€") == f"12{SPACE}€"
    assert one_line("a\u2009b\n") == "a\\u2009b\\n"


def test_a_change_at_full_precision_is_told_with_digits_that_show_it():
    """2018 instead of 2017 would be twice the change."""
    column = Column("share", Kind.REAL)
    assert value_texts(column, [2017.189, 2017.644]) == ["2,017.2", "2,017.6"]
    assert value_texts(Column("arrival_date_num", Kind.REAL), [2017.189, 2017.644]) == ["2017.2", "2017.6"]
