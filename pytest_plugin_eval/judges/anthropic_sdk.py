"""The Messages API by the ``anthropic`` package, whose repetitions and time limits are used.

The package is an extra and takes a third of a second to import: only functions import it.
"""

from __future__ import annotations

import base64
import importlib.util
import queue
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypedDict, cast

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import Image, JudgeReply, JudgeRequest, SlowDown
from pytest_plugin_eval.judges.models import (
    Cloud,
    cloud_of,
    is_alias,
    resolve_model,
    variable_of,
)
from pytest_plugin_eval.judges.pauses import asked_pause_s, slow_down_until
from pytest_plugin_eval.records.redact import redactor
from pytest_plugin_eval.spending.prices import price_usd
from pytest_plugin_eval.text import cut, one_line, shown, without_surrogates

if TYPE_CHECKING:
    from anthropic import (
        Anthropic,
        AnthropicBedrock,
        AnthropicFoundry,
        AnthropicVertex,
        DefaultHttpxClient,
    )
    from anthropic.types import ImageBlockParam, TextBlockParam

    # Declared as aliases, so that types can be checked where the package is absent.
    Client: TypeAlias = Anthropic | AnthropicBedrock | AnthropicFoundry | AnthropicVertex
    HttpClient: TypeAlias = DefaultHttpxClient
    Block: TypeAlias = TextBlockParam | ImageBlockParam
    MediaType: TypeAlias = Literal["image/jpeg", "image/png", "image/gif", "image/webp"]

__all__ = ["AnthropicSdk", "has_client", "obstacle"]

LONGEST_SLEEP_S = 60.0
"""A longer pause that the service asks for is not slept in the package: the caller hears of it."""
ERROR_LENGTH = 500
DEFAULT_TIMEOUT_S = 600.0
DEFAULT_RETRIES = 2
"""As in the package."""

_RETIRED = r"The model '.*' is deprecated"
_CLOUD_EXTRAS = {Cloud.BEDROCK: ("boto3", "bedrock"), Cloud.VERTEX: ("google.auth", "vertex")}
_NEEDED = {Cloud.VERTEX: ("CLOUD_ML_REGION",), Cloud.FOUNDRY: ("ANTHROPIC_FOUNDRY_API_KEY",)}
_NO_SIGN_IN = {
    Cloud.BEDROCK: "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
    Cloud.VERTEX: "CLAUDE_CODE_SKIP_VERTEX_AUTH",
    Cloud.FOUNDRY: "CLAUDE_CODE_SKIP_FOUNDRY_AUTH",
}


def obstacle(env: Mapping[str, str]) -> str | None:
    """Return why this back end cannot answer here, as what to set or install, or ``None``.

    Nothing is imported. A subscription's token (``CLAUDE_CODE_OAUTH_TOKEN``) is for the agent
    binary alone.
    """
    cloud = cloud_of(env)
    missing = [] if _is_installed("anthropic") else ["pip install 'pytest-plugin-eval[judge]'"]
    if cloud is not None:
        missing += _missing_for(cloud, env)
    elif not (env.get("ANTHROPIC_AUTH_TOKEN") or env.get("ANTHROPIC_API_KEY")):
        missing.append("set ANTHROPIC_API_KEY")
    return " and ".join(missing) or None


def has_client() -> bool:
    """Return whether the package is installed that asks the Messages API."""
    return _is_installed("anthropic")


class AnthropicSdk:
    """Asks the Messages API; one client, shared by all threads."""

    def __init__(
        self,
        env: Mapping[str, str],
        *,
        secrets: Iterable[str] = (),
        slow_down: SlowDown = lambda _: None,
    ) -> None:
        """Make the client that the environment selects; *secrets* never stand in a message.

        *slow_down* is told of each refusal, before the package sleeps and repeats the request.
        Raises `JudgeError` where the package refuses to make it.
        """
        self._env = dict(env)
        self._cloud = cloud_of(env)
        self._redact = redactor(secrets)
        self._guard = threading.Lock()
        self._waiting: set[queue.SimpleQueue[JudgeReply | JudgeError]] = set()
        self._is_closed = False
        try:
            self._client = _client(self._env, self._cloud, slow_down)
        except Exception as error:  # the package's checks raise many types
            raise JudgeError(self._said(error)) from error

    def __repr__(self) -> str:
        """Return what holds no secret."""
        return f"<AnthropicSdk {self.description}>"

    @property
    def description(self) -> str:
        """Say which service is asked."""
        return f"{self._cloud or 'Messages API'} by the anthropic package"

    def resolved(self, model: str | None) -> str:
        """Return the id to ask for; raises `JudgeError` for an alias that a cloud does not know."""
        name = resolve_model(model, self._env)
        if self._cloud is not None and is_alias(name):
            raise JudgeError(
                f"judge model {shown(name)}: {self._cloud} has names of its own, set"
                f" {variable_of(name)} or name a full id with --judge-model (pytest:"
                " --eval-judge-model)"
            )
        return name

    def estimate_usd(self, model: str, *, input_tokens: int, output_tokens: int) -> float | None:
        """Return the list price of a call."""
        return price_usd(model, input_tokens=input_tokens, output_tokens=output_tokens)

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """Return the answer; raises `JudgeError` when the request fails or `close` is called."""
        answer: queue.SimpleQueue[JudgeReply | JudgeError] = queue.SimpleQueue()
        with self._guard:
            if self._is_closed:
                raise _stopped()
            self._waiting.add(answer)
        # A blocked read and the package's pauses cannot be interrupted, only left behind.
        threading.Thread(
            target=lambda: answer.put(self._outcome(request)), name="judge-call", daemon=True
        ).start()
        try:
            outcome = answer.get()
        finally:
            with self._guard:
                self._waiting.discard(answer)
        if isinstance(outcome, JudgeError):
            raise outcome
        return outcome

    def close(self) -> None:
        """Have the calls in flight answered by an error, and close the connections."""
        with self._guard:
            self._is_closed = True
            waiting = tuple(self._waiting)
        for answer in waiting:
            answer.put(_stopped())
        self._client.close()

    def _outcome(self, request: JudgeRequest) -> JudgeReply | JudgeError:
        import anthropic

        try:
            return self._reply(request)
        except JudgeError as error:
            return error
        except anthropic.APIStatusError as error:
            now = time.time()
            text = f"HTTP {error.status_code}: {self._said(error)}"
            pause = slow_down_until(error.status_code, dict(error.response.headers), now)
            return JudgeError(text, status=error.status_code, slow_down_until=pause)
        except anthropic.APITimeoutError:
            return JudgeError("no answer within the time limit (API_TIMEOUT_MS)")
        except ValueError as error:  # what the package says of an answer that is no JSON
            return JudgeError(f"the answer is no JSON: {self._said(error)}", garbled=True)
        except Exception as error:  # noqa: BLE001 - the border of a judge call
            return JudgeError(self._said(error))

    def _reply(self, request: JudgeRequest) -> JudgeReply:
        # A retired model is a warning of the package, which in a strict session would be an error;
        # `catch_warnings` is not for threads.
        warnings.filterwarnings("ignore", _RETIRED, DeprecationWarning)
        message = self._client.messages.create(
            model=request.model,
            system=without_surrogates(request.system),
            messages=[{"role": "user", "content": [_block(part) for part in request.parts]}],
            max_tokens=request.max_tokens,
        )
        # The package does not check what it reads: a garbled answer is text, or lacks fields.
        content: object = getattr(message, "content", None)
        if not isinstance(content, list):
            text = f"the service answered with {self._said(message)}, expected a message"
            raise JudgeError(text, garbled=True)
        served = getattr(message, "model", None)
        served = served if isinstance(served, str) and served else request.model
        counts = _counts(getattr(message, "usage", None))
        return JudgeReply(
            text="\n".join(texts) if (texts := tuple(_texts(content))) else None,
            model=served,
            input_tokens=counts.input,
            output_tokens=counts.output,
            cost_usd=self._cost_usd(served, request.model, counts),
        )

    def _cost_usd(self, served: str, asked: str, counts: _Counts) -> float | None:
        if not counts.input + counts.output:
            # Not even counted: that is not known to be free.
            return None
        return price_usd(
            # Clouds answer with the plain name; what they charge is told by that with the region.
            asked if self._cloud is not None and served in asked else served,
            input_tokens=counts.fresh,
            cache_read_tokens=counts.read,
            cache_write_tokens=counts.written,
            output_tokens=counts.output,
        )

    def _said(self, what: object) -> str:
        """Return a text for a message: no secrets, one line, of bounded length."""
        said = _message(getattr(what, "body", None)) or str(what) or type(what).__name__
        return cut(one_line(self._redact(said)), ERROR_LENGTH)


def _stopped() -> JudgeError:
    return JudgeError("the session was stopped")


def _client(env: Mapping[str, str], cloud: Cloud | None, slow_down: SlowDown) -> Client:
    import anthropic

    how = _how(env, slow_down)
    match cloud:
        case Cloud.BEDROCK:
            return anthropic.AnthropicBedrock(
                aws_region=env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION"),
                base_url=env.get("ANTHROPIC_BEDROCK_BASE_URL"),
                **how,
            )
        case Cloud.VERTEX:
            return anthropic.AnthropicVertex(
                region=env.get("CLOUD_ML_REGION", ""),
                base_url=env.get("ANTHROPIC_VERTEX_BASE_URL"),
                **how,
            )
        case Cloud.FOUNDRY:
            key = env.get("ANTHROPIC_FOUNDRY_API_KEY")
            return anthropic.AnthropicFoundry(api_key=key, **how)
        case None:
            # As with the agent, a token goes before a key. The package takes one of the two.
            token = env.get("ANTHROPIC_AUTH_TOKEN") or None
            return anthropic.Anthropic(
                auth_token=token,
                api_key=None if token else env.get("ANTHROPIC_API_KEY"),
                base_url=env.get("ANTHROPIC_BASE_URL") or None,
                **how,
            )


class _How(TypedDict):
    """How requests are made, whatever the service."""

    max_retries: int
    timeout: float
    http_client: HttpClient


def _how(env: Mapping[str, str], slow_down: SlowDown) -> _How:
    import anthropic

    def on_response(response: _Response) -> None:
        _on_response(response, slow_down)

    retries = _whole(env.get("CLAUDE_CODE_MAX_RETRIES"))
    timeout_ms = _whole(env.get("API_TIMEOUT_MS"))
    return {
        "max_retries": DEFAULT_RETRIES if retries is None else retries,
        "timeout": timeout_ms / 1000 if timeout_ms else DEFAULT_TIMEOUT_S,
        "http_client": anthropic.DefaultHttpxClient(event_hooks={"response": [on_response]}),
    }


class _Response(Protocol):
    """What the hook needs of a response; the package has changed its HTTP library before."""

    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> MutableMapping[str, str]: ...


def _on_response(response: _Response, slow_down: SlowDown) -> None:
    """Tell of a pause before the package sleeps for it, and keep it from sleeping for hours.

    It obeys a header that says whether to repeat a request.
    """
    now = time.time()
    slow_down(slow_down_until(response.status_code, response.headers, now))
    pause_s = asked_pause_s(response.headers, now)
    if pause_s is not None and pause_s > LONGEST_SLEEP_S:
        response.headers["x-should-retry"] = "false"


def _missing_for(cloud: Cloud, env: Mapping[str, str]) -> Iterator[str]:
    if env.get(_NO_SIGN_IN[cloud]):
        yield f"unset {_NO_SIGN_IN[cloud]}"
    for name in _NEEDED.get(cloud, ()):
        if not env.get(name):
            yield f"set {name}"
    module, extra = _CLOUD_EXTRAS.get(cloud, ("", ""))
    has_token = cloud is Cloud.BEDROCK and env.get("AWS_BEARER_TOKEN_BEDROCK")
    if module and not has_token and not _is_installed(module):
        yield f"pip install 'anthropic[{extra}]'"


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _block(part: str | Image) -> Block:
    if isinstance(part, str):
        return {"type": "text", "text": without_surrogates(part)}
    data = base64.standard_b64encode(part.data).decode("ascii")
    return {
        "type": "image",
        # Any other kind is for the service to refuse, in its own words.
        "source": {"type": "base64", "media_type": cast("MediaType", part.mime), "data": data},
    }


def _message(body: object) -> str | None:
    """Return the words of the service in the body of its refusal."""
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else None


def _texts(content: Sequence[object]) -> Iterator[str]:
    for block in content:
        text: object = getattr(block, "text", None)
        if getattr(block, "type", None) == "text" and isinstance(text, str):
            yield text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counts:
    """The tokens of a call; what is not counted is 0."""

    fresh: int
    read: int
    written: int
    output: int

    @property
    def input(self) -> int:
        return self.fresh + self.read + self.written


def _counts(usage: object) -> _Counts:
    return _Counts(
        fresh=_count(usage, "input_tokens"),
        read=_count(usage, "cache_read_input_tokens"),
        written=_count(usage, "cache_creation_input_tokens"),
        output=_count(usage, "output_tokens"),
    )


def _count(usage: object, name: str) -> int:
    value: object = getattr(usage, name, None)
    return value if isinstance(value, int) and value > 0 else 0


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() else None
