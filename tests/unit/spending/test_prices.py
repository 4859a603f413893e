"""List prices: known models in all spellings, and nothing invented for others."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_plugin_eval.spending.prices import price_usd

HAIKU = "claude-haiku-4-5-20251001"


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-haiku-4-5", 0.0015),
        (HAIKU, 0.0015),
        ("Claude-Haiku-4-5", 0.0015),
        (f"anthropic/{HAIKU}", 0.0015),
        ("claude-haiku-4-5@20251001", 0.0015),
        (f"us.anthropic.{HAIKU}-v1:0", 0.00165),
        (f"global.anthropic.{HAIKU}-v1:0", 0.0015),
        (f"arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.{HAIKU}-v1:0", 0.00165),
        ("claude-haiku-5-5", 0.00015),
        ("claude-opus-5-5", 0.006),
    ],
)
def test_known_model_has_its_list_price(model: str, expected: float) -> None:
    assert price_usd(model, input_tokens=1000, output_tokens=100) == pytest.approx(expected)


@pytest.mark.parametrize(
    "model",
    ["", " ", "haiku", "my-model", "claude-nonsense-9", "arn:aws:bedrock:us-east-1:1:x/abc"],
)
def test_price_of_an_unknown_model_is_unknown(model: str) -> None:
    assert price_usd(model, input_tokens=1000, output_tokens=100) is None
    assert price_usd(model) is None


def test_caches_have_prices_of_their_own() -> None:
    read = price_usd(HAIKU, input_tokens=1000, cache_read_tokens=1000)
    written = price_usd(HAIKU, input_tokens=1000, cache_write_tokens=1000)

    assert read == pytest.approx(0.0011)
    assert written == pytest.approx(0.00225)


def test_nothing_used_costs_nothing() -> None:
    assert price_usd(HAIKU) == 0


def test_counts_that_cannot_be_have_no_price() -> None:
    assert price_usd(HAIKU, input_tokens=-1) is None


def test_without_the_library_every_price_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)

    assert price_usd(HAIKU, input_tokens=1000) is None


def test_table_is_read_without_network_or_threads() -> None:
    code = """
import socket, threading
def refuse(*_): raise SystemExit("network")
socket.socket.connect = socket.getaddrinfo = refuse
from pytest_plugin_eval.spending.prices import price_usd
print(price_usd("claude-haiku-4-5", input_tokens=1000), threading.active_count())
"""

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.split() == ["0.001", "1"]
