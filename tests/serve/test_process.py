"""`countarfactuals serve` as users start it: what it refuses, what it tells, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from contextlib import suppress

import pytest

from countarfactuals.cli import main
from countarfactuals.serve import ServiceError, client

from .asks import examples
from .conftest import TOKEN
from .processes import command, server
from .test_clients import raw


def test_another_address_needs_a_token(capsys, folder):
    for host in ("0.0.0.0", "::", "10.0.0.1", "example.org"):
        assert main(["serve", "--explainer", folder, "--host", host, "--no-browser"]) == 2
        told = capsys.readouterr().err
        assert "there is no token" in told
        assert "--token-file" in told
        assert "caddy" in told


@pytest.mark.parametrize("way", ["file", "environment"])
def test_a_short_token_is_refused(capsys, folder, tmp_path, monkeypatch, way):
    arguments = ["serve", "--explainer", folder, "--host", "0.0.0.0", "--no-browser"]
    if way == "file":
        (tmp_path / "token").write_text("short-secret")
        arguments += ["--token-file", str(tmp_path / "token")]
    else:
        monkeypatch.setenv("COUNTARFACTUALS_TOKEN", "short-secret")
    assert main(arguments) == 1
    told = capsys.readouterr()
    assert "at least 32 characters" in told.err
    assert "short-secret" not in told.err + told.out


def test_a_port_that_is_taken_is_told(capsys, folder, address):
    port = address.rpartition(":")[2]
    assert main(["serve", "--explainer", folder, "--port", port, "--no-browser"]) == 1
    assert "Choose another --port" in capsys.readouterr().err


def test_an_address_for_others_with_a_token_and_its_logs(folder, tmp_path):
    (tmp_path / "token").write_text(TOKEN + "\n")
    options = ("--host", "0.0.0.0", "--token-file", tmp_path / "token", "--log", "requests")
    with server(folder, tmp_path / "jobs", *options) as (address, process):
        address = address.replace("0.0.0.0", "127.0.0.1")
        with pytest.raises(ServiceError):
            client(address, "v1/explainers")
        (asked,) = [body for _, path, body in examples(address, TOKEN) if path.endswith("loan/predict")]
        client(address, "v1/explainers/loan/predict", asked, token=TOKEN)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=15)
    assert "Put TLS in front" in errors
    assert "POST /v1/explainers/{name}/predict 200" in errors
    assert TOKEN not in errors
    assert "36000" not in errors
    assert "secondary" not in errors


def test_what_is_no_http_fills_no_log(folder, tmp_path):
    with server(folder, tmp_path / "jobs") as (address, process):
        for _ in range(5):
            with raw(address) as connection:
                connection.sendall(b"\x16\x03\x01 no http at all\r\n\r\n")
                assert connection.recv(1000).startswith(b"HTTP/1.1 400")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=15)
    assert "HTTP" not in errors


def test_it_ends_in_time_while_much_is_going(folder, tmp_path):
    with server(folder, tmp_path / "jobs") as (address, process):
        (asked,) = [body for _, path, body in examples(address) if path.endswith("loan/explain")]
        jobs = [
            client(address, "v1/explainers/loan/explain-many", {"keys": list(range(500))}, as_job=True)["job"]
            for _ in range(3)
        ]
        waiting = [threading.Thread(target=_ask, args=(address, {**asked, "seed": k})) for k in range(30)]
        for thread in waiting:
            thread.start()
        time.sleep(1.0)
        process.send_signal(signal.SIGTERM)
        started = time.monotonic()
        process.communicate(timeout=15)
        assert time.monotonic() - started < 10
        for thread in waiting:
            thread.join(5)
    with server(folder, tmp_path / "jobs") as (address, process):
        assert {client(address, f"v1/jobs/{job}")["state"] for job in jobs} == {"interrupted"}


def _ask(address: str, asked: dict) -> None:
    with suppress(ServiceError, OSError):  # what could not be finished is refused or cut off
        client(address, "v1/explainers/loan/explain", asked)


def test_wrong_use_is_told_without_a_traceback(tmp_path):
    done = subprocess.run(
        command("serve", "--explainer", tmp_path / "none"), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
