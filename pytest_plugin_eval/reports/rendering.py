"""Pages without a script, from the templates of this package; every value is escaped."""

from __future__ import annotations

from pathlib import Path

__all__ = ["rendered"]

TEMPLATES = Path(__file__).parent / "templates"


def rendered(template: str, **values: object) -> str:
    """Return a template of that name with these values; a value that is missing is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # for pages alone

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(values) + "\n"
