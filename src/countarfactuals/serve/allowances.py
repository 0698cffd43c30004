"""`Allowances`: how much one request may ask for, and how much may wait."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Allowances:
    """Limits, as plain values.

    Parameters
    ----------
    rows : most rows of one request.
    bytes : of a request's body.
    seconds : within which a request must have its answer, of a stream each line, and its caller must take it.
    body_seconds : within which the body of a request must be there.
    max_evaluations : most rows that the model may be asked about for one explanation.
    waiting : most explanations that may wait for an explainer; more are told to come again.
    jobs : most jobs that are kept.
    stop_seconds : within which all that runs is finished or cancelled when the server stops.
    """

    rows: int = 10_000
    bytes: int = 8_000_000
    seconds: float = 120.0
    body_seconds: float = 20.0
    max_evaluations: int = 5_000
    waiting: int = 200
    jobs: int = 100
    stop_seconds: float = 8.0
