"""Globs of `file_exists`. Expected values were seen with the reference command."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.graders.glob import Glob

PATHS = ("a.b/c", "d/e/f.txt", "l\rr.txt", "l\u2028s.txt", "new.txt", "nl", "\U0001f600.txt")


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("??.txt", ("\U0001f600.txt",)),
        ("?.txt", ()),
        ("l?s.txt", ()),
        ("l**s.txt", ()),
        ("l*s.txt", ("l\u2028s.txt",)),
        ("l?r.txt", ()),
        ("l*r.txt", ("l\rr.txt",)),
        ("ne**/w.txt", ("new.txt",)),
        ("ne**w.txt", ("new.txt",)),
        ("***/new.txt", ()),
        ("****/new.txt", ("new.txt",)),
        ("*/**/f.txt", ("d/e/f.txt",)),
        ("d/***/f.txt", ("d/e/f.txt",)),
        ("d/**f.txt", ("d/e/f.txt",)),
        ("d**/f.txt", ("d/e/f.txt",)),
        ("d?e/f.txt", ("d/e/f.txt",)),
        ("**/", ()),
        ("**", ("a.b/c", "d/e/f.txt", "new.txt", "nl", "\U0001f600.txt")),
        ("***", PATHS[:2] + PATHS[2:]),
        ("*", PATHS[2:]),
        ("d/**/e/**/f.txt", ("d/e/f.txt",)),
        ("**/**/f.txt", ("d/e/f.txt",)),
        ("a.b/?", ("a.b/c",)),
        ("a?b?c", ("a.b/c",)),
        ("A.b/c", ()),
        ("", ()),
        ("d/e/", ()),
        ("d", ()),
        ("d/**", ("d/e/f.txt",)),
        ("d/e/f.txt/**", ()),
        ("d/e/f.txt**/", ("d/e/f.txt",)),
        ("**/d/e/f.txt", ("d/e/f.txt",)),
        ("*/f.txt", ()),
        ("**/?ew.txt", ("new.txt",)),
        ("./new.txt", ()),
        ("[n]ew.txt", ()),
        ("{new,old}.txt", ()),
    ],
)
def test_glob_finds(glob: str, expected: tuple[str, ...]) -> None:
    assert tuple(filter(Glob(glob).matches, PATHS)) == expected


@pytest.mark.parametrize("glob", ["**a" * 60 + "b", "*a" * 60 + "b", "**/" * 60 + "b"])
def test_no_glob_is_slow(glob: str) -> None:
    assert not Glob(glob).matches("a/" * 2000)
