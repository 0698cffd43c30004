"""`serve`: a server from start to stop; `in_background`: one for a `with` block.

1. The socket is bound first, so that the address is known before it is told, and a port that is taken is an error.
2. A signal ends it: what runs is finished or cancelled in time, and the lanes are closed.
"""

from __future__ import annotations

import logging
import socket
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import uvicorn

from countarfactuals.exceptions import ParameterError
from countarfactuals.serve.allowances import Allowances
from countarfactuals.serve.app import make_app
from countarfactuals.serve.guard import Access, Guard
from countarfactuals.serve.problems import LOG
from countarfactuals.serve.served import Served

_BACKLOG = 256
_A_MOMENT = 0.5  # seconds that the server needs to answer


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; port 0 takes any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_BACKLOG)  # who comes before the server is ready waits for it
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ParameterError(f"Can not listen at {host}, port {port}: {reason}. Choose another --port.") from error
    return made


def address_of(made: socket.socket) -> str:
    """Where a page finds the socket."""
    host, port = made.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def tell_on_standard_error(what: str) -> None:
    """Log "problems", also "requests", or also "data", to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("countarfactuals: %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel({"problems": logging.WARNING, "requests": logging.INFO, "data": logging.DEBUG}[what])


def serve(
    explainers: Sequence[Served],
    made: socket.socket,
    access: Access,
    allowances: Allowances,
    *,
    jobs_folder: Path | None = None,
    opened: Callable[[], Any] | None = None,
) -> None:
    """Serve until a signal ends it.

    Parameters
    ----------
    explainers : that are served.
    made : from `bound`.
    access, allowances, jobs_folder : see `make_app`.
    opened : called when the server answers, such as what opens a browser.
    """
    app = make_app(explainers, access=access, allowances=allowances, jobs_folder=jobs_folder)
    server = uvicorn.Server(_config_of(app, allowances))
    if opened is not None:
        Timer(_A_MOMENT, opened).start()
    server.run(sockets=[made])


@contextmanager
def in_background(
    explainers: Sequence[Served],
    *,
    access: Access | None = None,
    allowances: Allowances | None = None,
    jobs_folder: Path | None = None,
    port: int = 0,
) -> Iterator[str]:
    """A server for a `with` block, in a thread of this process; its address.

    Parameters
    ----------
    explainers, access, allowances, jobs_folder : see `make_app`.
    port : of this machine, 0 for any that is free.
    """
    app = make_app(explainers, access=access, allowances=allowances, jobs_folder=jobs_folder)
    made = bound("127.0.0.1", port)
    server = uvicorn.Server(_config_of(app, allowances or Allowances()))
    thread = Thread(target=server.run, kwargs={"sockets": [made]}, name="serving", daemon=True)
    thread.start()
    try:
        yield address_of(made)
    finally:
        server.should_exit = True
        thread.join()


def _config_of(app: Guard, allowances: Allowances) -> uvicorn.Config:
    """How uvicorn serves the app: without logs of its own, within the time to stop."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        backlog=_BACKLOG,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=round(allowances.stop_seconds),
    )


def open_page(address: str) -> None:
    """Open the page in the user's browser, if there is one."""
    webbrowser.open(address)
