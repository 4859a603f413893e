"""The exception family of the package and its warning."""

from __future__ import annotations

__all__ = [
    "AgentError",
    "CaseError",
    "EvalError",
    "JudgeError",
    "PytestPluginEvalWarning",
    "QualityError",
    "RecordError",
    "SettingsError",
]


class EvalError(Exception):
    """Something the user can mend: bad input, a missing tool, a refused option."""


class CaseError(EvalError):
    """A case that cannot be loaded; holds every problem found in it.

    Each problem is one line, ``file:line: what, expected, did you mean``.
    """

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class AgentError(EvalError):
    """An agent run that could not be started at all."""


class JudgeError(EvalError):
    """A judge request that was answered by no text, or that failed for good.

    *status* is the HTTP status, ``None`` without one (a lost connection, a missing program);
    *slow_down_until* is when the service takes requests again, in seconds since the epoch, where
    it asked for a pause; *garbled* says that there was an answer, of which no sense can be made.
    """

    def __init__(
        self,
        text: str,
        *,
        status: int | None = None,
        slow_down_until: float | None = None,
        garbled: bool = False,
    ) -> None:
        super().__init__(text)
        self.status = status
        self.slow_down_until = slow_down_until
        self.garbled = garbled


class QualityError(EvalError):
    """A skill or plugin that cannot be scored, in one line that names the file."""


class RecordError(EvalError):
    """A record file that cannot be read or is of a newer schema."""


class SettingsError(EvalError):
    """An option or ini value that is out of range or contradicts another."""


class PytestPluginEvalWarning(UserWarning):
    """Something that still works, but probably not as its author expects."""
