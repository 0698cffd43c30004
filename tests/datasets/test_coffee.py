"""The coffee data: cleaning against hand-made and published tables, the download against a server on loopback."""

from __future__ import annotations

import csv
import hashlib
import os
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest

from countarfactuals.datasets import COFFEE_CHARACTERISTICS, coffee, load_coffee
from countarfactuals.exceptions import DataError, StorageError

FOLDER = os.environ.get("COUNTARFACTUALS_PAPER", "")
needs_folder = pytest.mark.skipif(not FOLDER, reason="COUNTARFACTUALS_PAPER does not name the published data")

TASTE = ["Aroma", "Flavor", "Aftertaste", "Acidity", "Body"]
TASTE += ["Balance", "Uniformity", "Clean.Cup", "Sweetness", "Cupper.Points"]
# country, harvest, variety, method, moisture, colour, altitude, cup points
HAND_MADE = [
    ("Taiwan", "2013/2014", "Typica", "Washed / Wet", "0.1", "None", "800.5", "90"),
    ("Laos", "2016 / 2017", "Gesha", "Natural / Dry", "0", "Green", "1100", "80"),
    ("Peru", "4T72010", "Caturra", "Other", "0.12", "Green", "8849", "85"),
    ("Peru", "2015", "Other", "Other", "0.12", "Green", "1", "70"),
    ("Peru", "2015", "Catuai", "Other", "0.12", "Green", "11000", "81"),  # too high
    ("Peru", "2015", "Bourbon", "Other", "0.12", "Green", "NA", "82"),  # no altitude
    ("Peru", "2015", "", "Other", "0.12", "Green", "1000", "86"),  # no variety
    ("Peru", "2015", "Bourbon", "", "0.12", "Green", "1000", "87"),  # no method
    ("Peru", "2015", "Bourbon", "Other", "0.12", "", "1000", "88"),  # no colour
    ("", "2015", "Bourbon", "Other", "0.12", "Green", "1000", "89"),  # no country
    ("Peru", "2015", "Bourbon", "Other", "0.12", "Green", "1000", "NA"),  # no cup points
    ("Peru", "Mayo a Julio", "Bourbon", "Other", "0.12", "Green", "1000", "60"),  # no year
]  # the median of all cup points is 85


def write_raw(path: Path, rows: list[tuple[str, ...]] = HAND_MADE) -> Path:
    names = ["", "Species", "Country.of.Origin", "Harvest.Year", "Variety", "Processing.Method", *TASTE]
    names += ["Total.Cup.Points", "Moisture", "Color", "altitude_mean_meters"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_MINIMAL)
        writer.writerow(names)
        for number, (country, harvest, variety, method, moisture, colour, altitude, points) in enumerate(rows, 1):
            taste = [f"7.{number}"] * len(TASTE)
            writer.writerow(
                [number, "Arabica", country, harvest, variety, method, *taste, points, moisture, colour, altitude]
            )
    return path


def test_the_raw_file_is_cleaned(tmp_path: Path) -> None:
    loaded = load_coffee(write_raw(tmp_path / "raw.csv"))
    X = loaded.X
    assert list(X.index) == [0, 1, 2, 3]
    assert X["country.of.origin"].tolist() == ["Taiwan", "Laos", "Peru", "Peru"]
    assert X["harvest.year"].tolist() == [2014, 2017, 2010, 2015]
    assert X["variety"].tolist() == ["Typica", "Other", "Caturra", "Other"]
    assert X["color"].tolist() == ["None", "Green", "Green", "Green"]
    assert X["altitude_mean_meters"].tolist() == [800.5, 1100.0, 8849.0, 1.0]
    assert X["moisture"].tolist() == [0.1, 0.0, 0.12, 0.12]
    assert X["cupper.points"].tolist() == [7.1, 7.2, 7.3, 7.4]
    assert loaded.y.tolist() == ["good", "bad", "good", "bad"]
    assert list(loaded.y.cat.categories) == ["bad", "good"]
    assert X.shape[1] == 17
    assert set(COFFEE_CHARACTERISTICS) < set(X.columns)
    kinds = X.dtypes.astype(str).to_dict()
    assert {kinds[name] for name in ("country.of.origin", "variety", "processing.method", "color")} == {"category"}
    assert kinds["harvest.year"] == "int64"
    assert kinds["altitude_mean_meters"] == "float64"


def test_a_cleaned_file_gives_the_same(tmp_path: Path) -> None:
    raw = load_coffee(write_raw(tmp_path / "raw.csv"))
    raw.X.assign(quality=raw.y).to_csv(tmp_path / "cleaned.csv", index=False)
    cleaned = load_coffee(str(tmp_path / "cleaned.csv"))
    pd.testing.assert_frame_equal(cleaned.X, raw.X)
    pd.testing.assert_series_equal(cleaned.y, raw.y)


def test_foreign_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        load_coffee(tmp_path / "absent.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(DataError, match="no readable CSV"):
        load_coffee(tmp_path / "empty.csv")
    (tmp_path / "latin.csv").write_bytes("Variety\nCafé\n".encode("latin-1"))
    with pytest.raises(DataError, match="no readable CSV"):
        load_coffee(tmp_path / "latin.csv")
    (tmp_path / "other.csv").write_text("variety,aroma\nTypica,8\n")
    with pytest.raises(DataError, match=r"lacks the columns 'country\.of\.origin'.*arabica_data_cleaned"):
        load_coffee(tmp_path / "other.csv")
    raw = write_raw(tmp_path / "raw.csv")
    (tmp_path / "words.csv").write_text(raw.read_text().replace("800.5", "high"))
    with pytest.raises(DataError, match=r"'altitude_mean_meters'.*must hold numbers, got 'high'"):
        load_coffee(tmp_path / "words.csv")
    with pytest.raises(DataError, match="No row is complete"):
        load_coffee(write_raw(tmp_path / "incomplete.csv", HAND_MADE[4:]))
    loaded = load_coffee(raw)
    loaded.X.assign(quality="fine").to_csv(tmp_path / "labels.csv", index=False)
    with pytest.raises(DataError, match=r"'quality' must be one of 'bad', 'good'.*got 'fine'"):
        load_coffee(tmp_path / "labels.csv")


@needs_folder
def test_the_published_file_is_reproduced() -> None:
    with (Path(FOLDER) / "coffee.csv").open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    loaded = load_coffee(Path(FOLDER) / "coffee_raw.csv")
    assert len(loaded.X) == len(loaded.y) == len(published) == 895
    assert [*loaded.X.columns, "quality"] == list(published[0])
    for name, column in {**loaded.X, "quality": loaded.y}.items():
        text = column.dtype == "category"
        assert column.tolist() == [row[name] if text else float(row[name]) for row in published], name
    again = load_coffee(Path(FOLDER) / "coffee.csv")
    pd.testing.assert_frame_equal(again.X, loaded.X)
    pd.testing.assert_series_equal(again.y, loaded.y)


@needs_folder
def test_the_checksum_is_that_of_the_published_raw_file() -> None:
    content = (Path(FOLDER) / "coffee_raw.csv").read_bytes()
    assert hashlib.sha256(content).hexdigest() == coffee.SHA256


class Server:
    """What a request gets, and how many there were."""

    def __init__(self) -> None:
        self.content, self.status, self.announced, self.requests = b"", 200, None, 0

    def start(self) -> ThreadingHTTPServer:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests += 1
                self.send_response(outer.status)
                self.send_header("Content-Length", str(outer.announced or len(outer.content)))
                self.end_headers()
                self.wfile.write(outer.content)

            def log_message(self, *_: object) -> None:
                pass

        running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return running


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that has the hand-made file, whose checksum is expected; the cache is an absent folder."""
    serving = Server()
    serving.content = write_raw(tmp_path / "raw.csv").read_bytes()
    running = serving.start()
    monkeypatch.setattr(coffee, "URL", f"http://127.0.0.1:{running.server_port}/data/coffee.csv")
    monkeypatch.setattr(coffee, "SHA256", hashlib.sha256(serving.content).hexdigest())
    monkeypatch.setenv("COUNTARFACTUALS_CACHE", str(tmp_path / "cache" / "deep"))
    monkeypatch.setenv("no_proxy", "*")
    yield serving
    running.shutdown()
    running.server_close()


def cached(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_the_file_is_downloaded_once(server: Server, tmp_path: Path) -> None:
    first = load_coffee()
    assert [path.name for path in cached(tmp_path)] == ["arabica_data_cleaned.csv"]
    assert cached(tmp_path)[0].read_bytes() == server.content
    second = load_coffee()
    assert server.requests == 1
    pd.testing.assert_frame_equal(first.X, load_coffee(tmp_path / "raw.csv").X)
    pd.testing.assert_frame_equal(first.X, second.X)


def test_a_wrong_checksum_is_an_error_and_leaves_nothing(server: Server, tmp_path: Path) -> None:
    server.content += b"\n"
    with pytest.raises(StorageError, match=r"checksum .*the file has changed.*Nothing was kept"):
        load_coffee()
    assert cached(tmp_path) == []


@pytest.mark.parametrize("trouble", ["status", "torn"])
def test_a_failed_transfer_is_an_error_and_leaves_nothing(server: Server, tmp_path: Path, trouble: str) -> None:
    if trouble == "status":
        server.status = 404
    else:
        server.announced = len(server.content) + 100
    with pytest.raises(DataError, match="can not be downloaded from http://127"):
        load_coffee()
    assert cached(tmp_path) == []


def test_a_damaged_copy_is_replaced(server: Server, tmp_path: Path) -> None:
    load_coffee()
    place = cached(tmp_path)[0]
    place.write_bytes(server.content[:50])
    load_coffee()
    assert server.requests == 2
    assert place.read_bytes() == server.content
    place.write_bytes(server.content[:50])
    server.content = b"something else"
    with pytest.raises(StorageError):
        load_coffee()
    assert place.read_bytes() != server.content


def test_offline_the_error_says_where_to_put_the_file(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as held:  # a port that is taken and on which nobody listens
        held.bind(("127.0.0.1", 0))
        monkeypatch.setattr(coffee, "URL", f"http://127.0.0.1:{held.getsockname()[1]}/coffee.csv")
        with pytest.raises(DataError, match="put it at") as caught:
            load_coffee()
        place = tmp_path / "cache" / "deep" / "arabica_data_cleaned.csv"
        assert repr(str(place)) in str(caught.value)
        assert "load_coffee(path)" in str(caught.value)
        assert "damaged" not in str(caught.value)
        place.parent.mkdir(parents=True)
        place.write_bytes(server.content[:50])
        with pytest.raises(DataError, match="damaged"):
            load_coffee()
        place.write_bytes(server.content)  # what the error asked for
        assert len(load_coffee().X) == 4
    assert server.requests == 0


def test_a_cache_that_can_not_be_written_is_named(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTARFACTUALS_CACHE", str(tmp_path / "raw.csv"))
    with pytest.raises(StorageError, match=r"can not be written.*COUNTARFACTUALS_CACHE"):
        load_coffee()


def test_a_file_that_can_not_be_finished_leaves_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "cache" / "deep" / "arabica_data_cleaned.csv"
    place.mkdir(parents=True)  # a folder where the file should go
    with pytest.raises(StorageError, match="can not be written"):
        load_coffee()
    assert cached(tmp_path) == []
    place.rmdir()
    whole = Path.write_bytes

    def half(path: Path, content: bytes) -> None:
        whole(path, content[: len(content) // 2])
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(StorageError, match="No space left"):
        load_coffee()
    assert cached(tmp_path) == []


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="other systems have other cache folders")
def test_without_the_variable_the_users_cache_is_taken(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COUNTARFACTUALS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    load_coffee()
    assert cached(tmp_path) == [tmp_path / "cache" / "countarfactuals" / "arabica_data_cleaned.csv"]
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    load_coffee()
    assert (tmp_path / "home" / ".cache" / "countarfactuals" / "arabica_data_cleaned.csv").is_file()
