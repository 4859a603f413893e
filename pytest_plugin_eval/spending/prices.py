"""List prices of model calls. Spec: decisions, 24.

The library's table comes with its package; it asks no server unless told to, and is not told to.
"""

from __future__ import annotations

__all__ = ["has_price_list", "price_usd"]

_PREFIX = "anthropic/"
_BEDROCK_MARK = "anthropic."


def price_usd(
    model: str,
    *,
    input_tokens: int = 0,
    output_tokens: int = 0,
    cache_read_tokens: int = 0,
    cache_write_tokens: int = 0,
) -> float | None:
    """Return the price of a call; ``None`` when the model has no known price.

    *input_tokens* does not hold those of the caches. Dated ids, ``anthropic/…`` and the ids of
    Bedrock and Vertex are known as far as the library knows them.
    """
    counts = (input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)
    if min(counts) < 0:
        return None
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    usage = Usage(
        input_tokens=input_tokens + cache_read_tokens + cache_write_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=cache_read_tokens,
        cache_write_tokens=cache_write_tokens,
    )
    name, provider = _reference(model)
    try:
        price = float(calc_price(usage, name, provider_id=provider).total_price)
    except (LookupError, ValueError):
        return None
    # A table without the price of what was used adds up to 0: that is not known to be free.
    return price if price > 0 or not any(counts) else None


def has_price_list() -> bool:
    """Tell whether the library is installed; without it no price is known."""
    try:
        import genai_prices  # noqa: F401
    except ImportError:
        return False
    return True


def _reference(model: str) -> tuple[str, str | None]:
    """Return the name and the provider to look for; ``None``: the library finds the provider."""
    name = model.strip().lower().removeprefix(_PREFIX)
    # `us.anthropic.claude-…-v1:0`, alone or at the end of the name of an inference profile
    return (name, "aws") if _BEDROCK_MARK in name else (name, None)
