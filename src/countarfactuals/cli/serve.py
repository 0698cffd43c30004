"""`countarfactuals serve`: explainers behind HTTP, with a page to explore them.

1. Only this machine may ask, unless there is a token; without one an address that others reach is wrong use, and the
   refusal says why and what to do.
2. The folders of `fit` are opened, and `--data` is read like their training data.
3. The address is told when the socket is bound, and the page opened.
"""

from __future__ import annotations

import argparse
import ipaddress
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from countarfactuals._optional import optional
from countarfactuals.cli import folder
from countarfactuals.cli.arguments import DONE, PROGRAM, USAGE, note
from countarfactuals.cli.data_files import read_like
from countarfactuals.exceptions import ParameterError
from countarfactuals.language import tr

if TYPE_CHECKING:
    from countarfactuals.serve import Access, Served

_TOKEN_VARIABLE = "COUNTARFACTUALS_TOKEN"
_HOW_TO_OPEN = """\
{program}: error: --host {host} can be reached by others, and there is no token. Anyone who reaches it could ask \
for explanations and see rows of the data.
  make a token     python -c "import secrets; print(secrets.token_urlsafe(32))" > token
  serve with it    {program} serve … --host {host} --token-file token      (or in the variable {variable})
  and put TLS in front, as a token is readable on the way otherwise, for example with Caddy:
                   {program} serve … --token-file token --allow-host explain.example.org
                   caddy reverse-proxy --from explain.example.org --to 127.0.0.1:{port}"""
_TLS = """\
{program}: note: others reach this server in plain HTTP. Put TLS in front of it, for example
                 caddy reverse-proxy --from explain.example.org --to 127.0.0.1:{port}"""


def run(options: argparse.Namespace) -> int:
    """Serve until a signal ends it."""
    access = checked(options)
    return USAGE if access is None else start([_served(path, options) for path in options.explainer], options, access)


def checked(options: argparse.Namespace) -> Access | None:
    """Who may ask, before anything is read; None for an address that others reach without a token, which is told."""
    optional("fastapi", "The service needs", "serve")
    optional("uvicorn", "The service needs", "serve")
    from countarfactuals.serve import Access

    token, is_open = _token(options.token_file), not _is_loopback(options.host)
    told = {"program": PROGRAM, "host": options.host, "variable": _TOKEN_VARIABLE, "port": options.port}
    if is_open:
        print((_HOW_TO_OPEN if token is None else _TLS).format(**told), file=sys.stderr)
    if is_open and token is None:
        return None
    return Access((options.host, *options.allow_host) if is_open else tuple(options.allow_host), token)


def start(explainers: list[Served], options: argparse.Namespace, access: Access) -> int:
    """Serve explainers by the options of `serve`."""
    from countarfactuals.serve import Allowances
    from countarfactuals.serve.running import address_of, bound, open_page, serve, tell_on_standard_error

    tell_on_standard_error(options.log)
    allowances = Allowances()
    explainers = [served.hidden() for served in explainers] if options.no_real_rows else explainers
    made = bound(options.host, options.port)
    address = address_of(made)
    opened = partial(open_page, f"{address}/") if options.browser else None
    folder_of_jobs = None if options.jobs_folder is None else Path(options.jobs_folder)
    names = ", ".join(served.name for served in explainers)
    print(tr("serving {names} at {address} (Ctrl-C ends it)", names=names, address=f"{address}/"), flush=True)
    serve(explainers, made, access, allowances, jobs_folder=folder_of_jobs, opened=opened)
    return DONE


def _served(path: str, options: argparse.Namespace) -> Served:
    from countarfactuals.serve import Served

    opened = folder.read(path, trusted=options.trust_model)
    explainer, table = opened.explainer, None
    if options.data is not None:
        frame, _ = read_like(options.data, opened.dialect, note, explainer.schema_, known=opened.known_columns)
        table = explainer.schema_.encode(frame)
    return Served(
        name=Path(path).resolve().name,
        explainer=explainer,
        outcome=opened.meta.get("outcome"),
        units=dict[Any, Any](opened.units),
        rows_are=opened.rows,
        table=table,
        model=opened.meta.get("model_from"),
        model_file=str(Path(path) / str(opened.meta["model_file"])),
    )


def _token(path: str | None) -> str | None:
    """The token, from its file or from the environment; it is never shown."""
    if path is None:
        return os.environ.get(_TOKEN_VARIABLE, "").strip() or None
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise ParameterError(
            f"--token-file {path!r} can not be read: {type(error).__name__}. Check its name."
        ) from error


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
