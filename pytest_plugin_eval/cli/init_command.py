"""`plugin-eval init`: writes the index of a corpus of skills."""

from __future__ import annotations

import click

from pytest_plugin_eval.cli.score_options import DEFAULT_CORPUS, ScoreCommand, own_path

__all__ = ["init"]


@click.command("init", cls=ScoreCommand)
@click.argument("source")
@click.option(
    "--corpus-dir",
    metavar="DIR",
    default=DEFAULT_CORPUS,
    show_default=True,
    help="Where the index goes.",
)
def init(source: str, corpus_dir: str) -> int:
    """Write an index of the skills below SOURCE, for `score --corpus` to compare with.

    SOURCE holds plugins, whose skills lie in skills/. The index replaces the one that is there,
    unless there is no skill in SOURCE; it names the skills, which stay where they are and are
    scored when they are compared with.

    Exit code: 0 done; 2 SOURCE is no directory or would empty an index, the index cannot be
    written, or bad usage.
    """
    from pathlib import Path

    from pytest_plugin_eval.cli.score_output import write_text
    from pytest_plugin_eval.cli.score_session import say
    from pytest_plugin_eval.errors import QualityError
    from pytest_plugin_eval.quality.corpus import INDEX_FILE, build_index, index_text
    from pytest_plugin_eval.storage.atomic_write import write_bytes
    from pytest_plugin_eval.text import plural

    index = build_index(Path(source))
    for problem in index.problems:
        say(f"warning: {problem}")
    file = own_path(corpus_dir) / INDEX_FILE
    if not index.entries:
        nothing = f"{source}: holds no skill"
        if index.problems:
            nothing += " that can be read"
        else:
            nothing += ", expected <plugin>/skills/<skill>/SKILL.md in it"
        if file.exists():
            raise QualityError(f"{nothing}; the index in {file} stays as it is")
        say(f"warning: {nothing}")
    try:
        write_bytes(file, index_text(index).encode())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise QualityError(f"{file}: the index cannot be written: {reason}") from error
    write_text(f"{plural(len(index.entries), 'skill')} in {file}\n")
    return 0
