"""The seam between whoever asks a model one question and whatever answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

__all__ = ["Image", "JudgeBackend", "JudgeReply", "JudgeRequest", "SlowDown"]

SlowDown: TypeAlias = Callable[[float | None], None]
"""Told at once, while a call goes on, until when the service asked for a pause."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture attached to a question."""

    mime: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest:
    """One question: a single user message, no tools."""

    model: str
    """As `JudgeBackend.resolved` returned it."""
    system: str
    parts: tuple[str | Image, ...]
    max_tokens: int = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReply:
    """The answer and what it cost."""

    text: str | None
    """All text blocks together; ``None`` when the answer has none (D2)."""
    model: str
    """The model that answered, in its own words."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """List price; ``None`` when it is unknown."""


class JudgeBackend(Protocol):
    """Answers questions; several threads may call `ask` at once."""

    @property
    def description(self) -> str:
        """Say in a few words what answers, for the header of a session."""
        ...

    def resolved(self, model: str | None) -> str:
        """Return the model to ask for: the default for ``None``, an alias resolved."""
        ...

    def estimate_usd(self, model: str, *, input_tokens: int, output_tokens: int) -> float | None:
        """Return the list price of a call, or ``None`` when the model has no known price."""
        ...

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """Return the answer, after the repetitions that the back end makes of itself.

        Raises `JudgeError` when the request fails for good.
        """
        ...

    def close(self) -> None:
        """End the calls in flight and give everything free."""
        ...
