"""The service: explainers behind HTTP, and the page that people explore them with.

- `served`: an explainer with what it is called by; `allowances`: how much one request may ask for.
- `app`: puts the routes together; `guard`: who may ask, and how much, before any route sees the request.
- `messages`: what requests and answers look like, from which the OpenAPI is made; `problems`: errors as RFC 9457 says.
- `searching`: the thread that searches for all at the same time; `lane`: threads for what is computed quickly, so that
  the event loop never waits. `service` holds them; `answers`, `documents`: what is computed.
- `batches`, `jobs`, `group_costs`: many rows, as jobs that survive a lost connection, and what they tell of groups.
- `inference`, `metrics`: the protocols of model servers and of those who watch over them.
- `profile`, `row_table`, `view`: an explainer, its rows and a result as a page shows them.
- `running`: a server from start to stop; `asking`: `client`, with the standard library alone.
- `page/`: the page itself.

Names are imported when they are asked for: who only asks a service needs neither FastAPI nor uvicorn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from countarfactuals.serve.allowances import Allowances
    from countarfactuals.serve.app import make_app
    from countarfactuals.serve.asking import ServiceError, client
    from countarfactuals.serve.guard import Access
    from countarfactuals.serve.running import in_background
    from countarfactuals.serve.served import Served

__all__ = ["Access", "Allowances", "Served", "ServiceError", "client", "in_background", "make_app"]

_MODULES = {
    "Access": "guard",
    "Allowances": "allowances",
    "Served": "served",
    "ServiceError": "asking",
    "client": "asking",
    "in_background": "running",
    "make_app": "app",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'countarfactuals.serve' has no attribute {name!r}")
    return globals().setdefault(name, getattr(import_module(f"countarfactuals.serve.{_MODULES[name]}"), name))
