"""Answers as strict JSON: no NaN, and no text that can not be sent."""

from __future__ import annotations

import json
from typing import Any

from fastapi.responses import JSONResponse


def json_line(content: Any) -> bytes:
    """JSON on one line, without its line feed; half of a sign that a request had becomes a question mark."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


class Answer(JSONResponse):
    """An answer of this service."""

    def render(self, content: Any) -> bytes:
        """The body."""
        return json_line(content)
