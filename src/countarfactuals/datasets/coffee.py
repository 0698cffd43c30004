"""Arabica coffees that a jury tasted: the real data of the paper.

1. The file is a local copy, or the public one of the coffee quality database. That is downloaded once, compared with a
   checksum and kept in the user's cache folder.
2. It is cleaned as the paper did: the year of a harvest is the last one named ("2013/2014" is 2014); varieties other
   than the most frequent ones count as "Other"; altitudes higher than any mountain are missing (metres written
   as centimetres and the like); rows that lack a used value are left out.
3. A coffee is good if its cup points reach the median of all coffees in the file, those left out included.

A local copy may also be cleaned already, with a column `quality`: it is then only checked and typed.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import pandas as pd

from countarfactuals.exceptions import DataError, StorageError, listed
from countarfactuals.files import write_whole

URL = "https://raw.githubusercontent.com/jldbc/coffee-quality-database/master/data/arabica_data_cleaned.csv"
# Of the copy that comes with the paper's results. It has the length of the public file, and the same text in the parts
# that were compared; that the public bytes give this sum is checked by the first download only.
SHA256 = "f99e588fcdd564e43a779a4b0f3870760018b1ffec7eab7f43db7bedf8f6d670"
FILE = "arabica_data_cleaned.csv"
CACHE = "COUNTARFACTUALS_CACHE"
PATIENCE = 30.0  # seconds without an answer

COFFEE_CHARACTERISTICS = (  # what a grower can act on: the features of the paper's table
    "country.of.origin",
    "harvest.year",
    "variety",
    "processing.method",
    "moisture",
    "altitude_mean_meters",
)
_TASTE = (
    "aroma",
    "flavor",
    "aftertaste",
    "acidity",
    "body",
    "balance",
    "uniformity",
    "clean.cup",
    "sweetness",
    "cupper.points",
)
_FEATURES = (*COFFEE_CHARACTERISTICS[:4], *_TASTE, "moisture", "color", "altitude_mean_meters")
_CATEGORIES = ("country.of.origin", "variety", "processing.method", "color")
_NUMBERS = (*_TASTE, "moisture", "altitude_mean_meters")
_YEAR, _POINTS, _QUALITY = "harvest.year", "total.cup.points", "quality"
_VARIETIES = ("Bourbon", "Catuai", "Caturra", "Other", "Typica")
HIGHEST = 8849.0  # metres, of the highest mountain
_QUALITIES = ("bad", "good")


@dataclass(frozen=True)
class CoffeeSet:
    """Features and quality (bad or good) of real coffees. Their process, and so the true density, is unknown."""

    name: str
    X: pd.DataFrame
    y: pd.Series


def load_coffee(path: str | os.PathLike[str] | None = None) -> CoffeeSet:
    """The coffees of the paper's example: 17 features, six of them `COFFEE_CHARACTERISTICS`, and their quality.

    Parameters
    ----------
    path : of a local copy, raw or cleaned. None takes the public file from the cache folder, and downloads it to there
        if it is absent or damaged. The environment variable COUNTARFACTUALS_CACHE names another cache folder.
    """
    place = _public_file() if path is None else Path(path)
    frame = _read(place).rename(columns=str.lower)
    _check_columns(frame, place)
    X, y = _typed(_cleaned(frame) if _POINTS in frame else frame)
    return CoffeeSet(name="coffee", X=X, y=y)


def _read(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise DataError(
            f"There is no file {str(path)!r}. Give the path of {FILE!r}, raw or cleaned, or none to download it."
        )
    try:  # "None" is a colour here, which pandas would take for missing
        return pd.read_csv(path, keep_default_na=False, na_values=["", "NA"], encoding="utf-8")
    except ValueError as error:  # what pandas raises for an empty file, torn rows or foreign bytes
        raise DataError(f"{str(path)!r} is no readable CSV file ({error}). Get a new copy from {URL} .") from error


def _check_columns(frame: pd.DataFrame, path: Path) -> None:
    absent = [name for name in _FEATURES if name not in frame]
    if _POINTS not in frame and _QUALITY not in frame:
        absent.append(f"{_POINTS} or {_QUALITY}")
    if absent:
        raise DataError(
            f"{str(path)!r} lacks the columns {listed(absent)}. It must be the file at {URL} , or that file cleaned."
        )
    for name in [*_NUMBERS, *([_POINTS] if _POINTS in frame else [])]:
        known = frame[name].dropna()
        wrong = known[pd.to_numeric(known, errors="coerce").isna()]
        if len(wrong):
            raise DataError(f"Column {name!r} of {str(path)!r} must hold numbers, got {listed(wrong.unique())}.")


def _cleaned(raw: pd.DataFrame) -> pd.DataFrame:
    """The raw table as the paper used it: years, varieties, altitudes, quality."""
    variety, altitude, points = raw["variety"], raw["altitude_mean_meters"], raw[_POINTS]
    quality = (points >= points.median()).map({False: "bad", True: "good"})
    return raw.assign(
        **{
            "variety": variety.where(variety.isin(_VARIETIES) | variety.isna(), "Other"),
            "altitude_mean_meters": altitude.where(altitude <= HIGHEST),
            _QUALITY: quality.where(points.notna()),
        }
    )


def _typed(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Complete rows, numbered anew: years as integers, categories as such."""
    years = frame[_YEAR].astype(str).str.findall(r"(?:19|20)\d\d").str[-1]
    frame = frame.assign(**{_YEAR: years})[[*_FEATURES, _QUALITY]].dropna().reset_index(drop=True)
    unknown = sorted(set(frame[_QUALITY]) - set(_QUALITIES))
    if unknown or not len(frame):
        raise DataError(
            f"Column {_QUALITY!r} must be one of {listed(_QUALITIES)} in every row, got {listed(unknown)}."
            if unknown
            else f"No row is complete. Used are the columns {listed(_FEATURES, most=len(_FEATURES))}."
        )
    types = dict.fromkeys(_CATEGORIES, "category") | dict.fromkeys(_NUMBERS, "float64") | {_YEAR: "int64"}
    quality = pd.Series(pd.Categorical(frame[_QUALITY], categories=list(_QUALITIES)), name=_QUALITY)
    return frame[list(_FEATURES)].astype(types), quality


def _public_file() -> Path:
    """The path of the public file in the cache, where it is put first if it is not there."""
    path = _cache_folder() / FILE
    if not (path.is_file() and _sha256(path.read_bytes()) == SHA256):
        content = _download(path)
        if _sha256(content) != SHA256:
            raise StorageError(
                f"What {URL} sent ({len(content):,} bytes) has the SHA-256 checksum {_sha256(content)}, not {SHA256}: "
                "the file has changed or the transfer was disturbed. Nothing was kept. Try again, or pass the path of "
                "a copy that you trust: `load_coffee(path)`."
            )
        _store(path, content)
    return path


def _cache_folder() -> Path:
    chosen = os.environ.get(CACHE)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "countarfactuals"


def _download(path: Path) -> bytes:
    try:
        with urlopen(URL, timeout=PATIENCE) as answer:
            content: bytes = answer.read()
    except (OSError, HTTPException) as error:
        damaged = " What lies there now is damaged or another file." if path.is_file() else ""
        raise DataError(
            f"The coffee data can not be downloaded from {URL} ({error}). Get the file by other means and put it at "
            f"{str(path)!r}, or pass the path of a copy: `load_coffee(path)`.{damaged}"
        ) from error
    return content


def _store(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except (OSError, StorageError) as error:
        raise StorageError(
            f"{str(path)!r} can not be written ({error}). Set the environment variable {CACHE} to a folder that can."
        ) from error


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
