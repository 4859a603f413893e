"""The environment of an agent that is to reach servers on this machine."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["LOOPBACK", "with_loopback_direct"]

LOOPBACK = "127.0.0.1"
_NO_PROXY = ("NO_PROXY", "no_proxy")
_PROXIES = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy")


def with_loopback_direct(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of an agent with mocks: no proxy stands before the loopback server."""
    found = dict(env)
    if not any(found.get(name) for name in _PROXIES):
        return found
    first, second = (env.get(name) for name in _NO_PROXY)
    # A client reads one spelling or the other: what only one of them says holds for both.
    for name, value in zip(_NO_PROXY, (first or second, second or first), strict=True):
        hosts = [host.strip() for host in (value or "").split(",") if host.strip()]
        direct = () if "*" in hosts or LOOPBACK in hosts else (LOOPBACK,)
        found[name] = ",".join((*hosts, *direct))
    return found
