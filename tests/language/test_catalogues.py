"""Languages are files: the German one has every phrase, a further one joins by its file, and mistakes are found."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from countarfactuals.exceptions import ParameterError, StorageError
from countarfactuals.language import ENGLISH, Catalogue, catalogue_of, counted, languages, speaking, spoken, tr
from countarfactuals.language import languages as registry
from countarfactuals.language.extraction import Phrase, complete, extracted, main
from countarfactuals.language.localised import places

from .outputs import OUTPUTS, REAL_NAMES, Recorded, words_in

GERMAN = registry.__globals__["FOLDER"] / "de.po"
# the same in both languages: names of things, and patterns without words
ALIKE = re.compile(r"[\W\d_]*|n|SHA-256|Generation|Version of countarfactuals")

POLISH = """
msgid ""
msgstr ""
"Language: pl\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);\\n"

msgid "yes"
msgstr "tak"

msgid "{n:,} row"
msgid_plural "{n:,} rows"
msgstr[0] "{n:,} wiersz"
msgstr[1] "{n:,} wiersze"
msgstr[2] "{n:,} wierszy"

#, fuzzy
msgid "no"
msgstr "może"
"""


@cache
def german() -> dict[str, tuple[str, ...]]:
    """Translations by phrase; plural forms by both."""
    with GERMAN.open("rb") as file:
        stored = [message for message in read_po(file) if message.id]
    made = {}
    for message in stored:
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        for key in message.id if isinstance(message.id, tuple) else (message.id,):
            made[key] = () if message.fuzzy else strings
    return made


@cache
def phrases() -> list[Phrase]:
    found = extracted()
    assert found.unclear == []
    return found.phrases


def test_every_call_has_phrases_that_can_be_told():
    assert len(phrases()) > 400


def test_german_has_every_phrase():
    keys = {key for phrase in phrases() for key in (phrase.one, phrase.several) if key is not None}
    assert {key for key in keys if not all(german().get(key, ("",)))} == set()
    assert set(german()) <= keys


@pytest.mark.parametrize("output", OUTPUTS)
def test_what_is_said_at_run_time_is_among_the_phrases(output: str):
    recorded = Recorded()
    with speaking(recorded):
        assert OUTPUTS[output]()
    assert recorded.keys
    assert {key for key in recorded.keys if key not in german()} == set()


@pytest.mark.parametrize("output", OUTPUTS)
def test_german_outputs_have_no_english_left(output: str):
    english = {word for key in german() for word in words_in(key)}
    known = {word for strings in german().values() for text in strings for word in words_in(text)} | REAL_NAMES
    with speaking("de"):
        left = {word for text in OUTPUTS[output]() for word in words_in(text)}
    assert left & (english - known) == set()


def test_translations_have_the_places_of_their_phrases():
    with GERMAN.open("rb") as file:
        for message in read_po(file):
            if message.id:
                ids = message.id if isinstance(message.id, tuple) else (message.id,)
                strings = message.string if isinstance(message.string, tuple) else (message.string,)
                allowed = set().union(*map(places, ids))
                for text in strings:
                    # German can not say "this {row}" without its gender; "one way" needs no number
                    assert allowed - {"row", "n", "changed"} <= places(text) <= allowed, message.id


def test_translations_are_no_copies():
    copied = {key for key, strings in german().items() if key in strings}
    without_places = {key: re.sub(r"\{[^}]*\}", "", key) for key in copied}
    assert {key for key, rest in without_places.items() if not ALIKE.fullmatch(rest.strip())} <= {
        "{seconds} s",
        "{name} in {share}",
        "in {file!r}",
        "Version of countarfactuals",
    }


def test_a_language_joins_by_the_path_of_its_file(tmp_path: Path):
    path = tmp_path / "pl.po"
    path.write_text(POLISH, encoding="utf-8")
    with speaking(path):
        assert spoken().code == "pl"
        assert tr("yes") == "tak"
        assert tr("no") == "no"  # fuzzy entries do not count
        assert tr("found") == "found"
        assert [counted(n, "{n:,} row", "{n:,} rows") for n in (1, 3, 5, 22)] == [
            "1 wiersz", "3 wiersze", "5 wierszy", "22 wiersze",
        ]  # fmt: skip
        assert counted(12345, "{n:,} row", "{n:,} rows") == "12\N{NO-BREAK SPACE}345 wierszy"
    assert spoken() is ENGLISH


def test_a_language_joins_by_its_file_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(registry.__globals__, "FOLDER", tmp_path)
    (tmp_path / "pl.po").write_text(POLISH, encoding="utf-8")
    assert languages() == ("en", "pl")
    with speaking("pl"):
        assert tr("yes") == "tak"


def test_a_region_has_its_own_numbers():
    for code, number in (("de", "1.234,5"), ("de-CH", "1’234.5"), ("de_AT", "1.234,5"), ("en-US", "1,234.5")):
        assert catalogue_of(code).number("1234.5", grouped=True) == number
    assert catalogue_of("de-AT").phrase("yes") == "ja"
    assert catalogue_of("en") is ENGLISH
    assert catalogue_of("de") is catalogue_of("de")


def test_a_catalogue_is_itself():
    own = Catalogue("xx", {"yes": "ŷ"})
    with speaking(own), speaking(None):
        assert tr("yes") == "ŷ"


@pytest.mark.parametrize("language", ["fr", "dutch", "", 3, "d"])
def test_an_unknown_language_is_refused(language):
    with pytest.raises(ParameterError, match=r"`language` must be a known language.*'de', 'en'"):
        catalogue_of(language)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (POLISH.replace('"{n:,} wierszy"', '"{m:,} wierszy"'), "has the places"),
        (POLISH.replace('"tak"', '"{"'), "has the places"),
        (POLISH.replace("Language: pl", "Language: klingon"), "No locale is known"),
        (POLISH.replace('msgstr "tak"', "nonsense"), "no readable .po file"),
    ],
)
def test_a_file_with_mistakes_is_refused(tmp_path: Path, text: str, match: str):
    path = tmp_path / "x1.po"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StorageError, match=match):
        catalogue_of(path)


def test_a_file_that_is_not_there():
    with pytest.raises(StorageError, match=r"no file .*absent\.po"):
        catalogue_of("absent.po")


def test_a_file_is_completed_and_keeps_its_translations(tmp_path: Path):
    path = tmp_path / "pl.po"
    path.write_text(POLISH, encoding="utf-8")
    few = [Phrase("yes", None, ("a.py", 1)), Phrase("new", None, ("a.py", 2)), Phrase("{n} x", "{n} xs", ("a.py", 3))]
    assert complete(path, few) == 2
    assert catalogue_of(path).phrase("yes") == "tak"
    text = path.read_text(encoding="utf-8")
    assert "#~ msgstr[0]" in text  # what is gone is kept as a comment
    assert complete(path, few) == 2
    assert path.read_text(encoding="utf-8") == text


def test_a_translator_gets_all_phrases(tmp_path: Path, capsys):
    assert main([str(tmp_path / "nl.po")]) == 0
    assert "without a translation" in capsys.readouterr().out
    with (tmp_path / "nl.po").open("rb") as file:
        written = {message.id for message in read_po(file) if message.id}
    counted_ones = {phrase.one for phrase in phrases() if phrase.several}
    alone = {phrase.one for phrase in phrases() if not phrase.several} - counted_ones
    assert written == alone | {phrase.key for phrase in phrases() if phrase.several}
    assert main(["nl"]) == 2
