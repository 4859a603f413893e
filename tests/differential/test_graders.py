"""Free graders: the same verdicts and explanations as the reference's."""

from __future__ import annotations

import pytest

from tests.differential.compare import check, compare
from tests.differential.suite import Fields, Suite, exists, order, regex, used
from tests.support.script import rule, script, text, tool

pytestmark = pytest.mark.agent

ONE_ARM = ("--ablation", "none")
WORDS = "Alpha beta\nGrün 😀 x.y\naaaa ABC abc\n  end of it"


def test_regex(suite: Suite) -> None:
    patterns = {
        "plain": regex("beta"),
        "case": regex("alpha"),
        "flag-i": regex("alpha", flags="i"),
        "anchored": regex("^aaaa"),
        "flag-m": regex("^aaaa", flags="m"),
        "dot": regex("beta.Gr"),
        "flag-s": regex("beta.Gr", flags="s"),
        "flag-g": regex("abc", flags="gi"),
        "sticky": regex("Grün", flags="y"),
        "sticky-0": regex("Alpha", flags="y"),
        "indices": regex("beta", flags="d"),
        "unicode": regex(r"\p{Emoji_Presentation}", flags="u"),
        "sets": regex(r"[\p{L}--[a-z]]", flags="v"),
        "utf16": regex("^.{14}x", flags="m"),
        "astral": regex("^Grün . x", flags="mu"),
        "no-astral": regex("^Grün . x", flags="m"),
        "lookbehind": regex("(?<=x)\\.y"),
        "named": regex("(?<l>a)\\k<l>"),
        "group-i": regex("(?i:ALPHA)"),
        "posix": regex("[[:alpha:]]"),
        "octal": regex(r"\101lpha"),
        "lenient": regex(r"\end{,2}"),
        "ascii-word": regex(r"Gr\w+n"),
        "empty": regex(""),
        "missing": regex("nowhere"),
        "absent": regex("nowhere", match="not_contains"),
        "present": regex("beta", match="not_contains"),
        "twice": regex("aa", match="count:2"),
        "thrice": regex("aa", match="count:3"),
        "none": regex("zz", match="count:0"),
        "padded": regex("abc", flags="i", match="count:02"),
        "empty-matches": regex("", match="count:45"),
        "lines": regex("^", flags="m", match="count:4"),
        "quotes": regex('"it\'s" \\\\ `x`'),
    }
    suite.case("regex", patterns)

    result = compare(suite, script(rule(turns=[WORDS])), *ONE_ARM)

    check("regex", result)


def test_targets(suite: Suite) -> None:
    graders = {
        "last": regex("second"),
        "not-first": regex("first", match="not_contains"),
        "trace-first": regex("first", target="trace"),
        "trace-prompt": regex("Do targets", target="trace"),
        "trace-init": regex('^\\{"type":"system"', target="trace"),
        "trace-result": regex('"type":"result"[^\\n]*$', target="trace"),
        "trace-escapes": regex('größe\\\\n\\\\"<b>/', target="trace"),
        "trace-blocks": regex('"type":"assistant"', target="trace", match="count:3"),
        "no-files": regex("^$", target="files"),
        "missing-file": regex("x", target={"source": "file", "path": "none.txt"}),
        "missing-absent": regex(
            "x", match="not_contains", target={"source": "file", "path": "none.txt"}
        ),
        "escaping": regex("x", target={"source": "file", "path": "../x"}),
    }
    suite.case("targets", graders)
    blocks = [text('größe\n"<b>/ first'), tool("Glob", pattern="*.none")]
    answers = script(rule(turns=[blocks, [text("the first"), text("the second")]]))

    result = compare(suite, answers, *ONE_ARM)

    escaping = "cases.evals/targets.arms.with.0.graders.escaping.explanation"
    check("targets", result, {"texts": [escaping]})


def test_created_files(suite: Suite) -> None:
    def file(path: str, pattern: str, **options: object) -> Fields:
        return regex(pattern, target={"source": "file", "path": path}, **options)

    graders = {
        "listing": regex(
            "^\\.hidden\\nZ\\.txt\\na\\.txt\\nbr\\[1\\]\\.txt\\nsub/b\\.md\\nsub/deep/ü\\.txt$",
            target="files",
        ),
        "content": file("a.txt", "^one\\ntwo\\n$"),
        "dotted": file("./sub/../a.txt", "two"),
        "no-glob": file("*.txt", "two"),
        "case": file("A.txt", "two"),
        "directory": file("sub", "two"),
        "unicode": file("sub/deep/ü.txt", "größe"),
        "star": exists("*.txt"),
        "star-dir": exists("*/b.md"),
        "star-not-deep": exists("*/ü.txt"),
        "two-stars": exists("**/ü.txt"),
        "zero-dirs": exists("**/a.txt"),
        "inner": exists("sub/**/b.md"),
        "question": exists("?.txt"),
        "question-slash": exists("sub?b.md"),
        "literal": exists("br[1].txt"),
        "no-class": exists("[ab].txt"),
        "no-brace": exists("{a,b}.txt"),
        "hidden": exists("*hidden"),
        "not-dir": exists("sub"),
        "not-dotted": exists("./a.txt"),
        "absent": exists("none*", exists=False),
        "present": exists("a.txt", exists=False),
        "empty": exists(""),
        "count": regex("\\.txt$", flags="m", target="files", match="count:4"),
    }
    suite.case("files", graders)
    writes = [
        tool("Write", file_path=f"{{cwd}}/{path}", content=content)
        for path, content in {
            "a.txt": "one\ntwo\n",
            "Z.txt": "z",
            ".hidden": "h",
            "br[1].txt": "b",
            "sub/b.md": "b",
            "sub/deep/ü.txt": "größe",
        }.items()
    ]

    result = compare(
        suite, script(rule(turns=[writes, "written"])), *ONE_ARM, "--allow-tools", "Write"
    )

    check("created files", result)


def test_tools(suite: Suite) -> None:
    read = {"tool": "Read", "input_match": "b\\.md"}
    graders = {
        "once": used("Glob"),
        "twice": used("Read", min=2),
        "thrice": used("Read", min=3),
        "at-most": used("Read", min=1, max=1),
        "max-alone": used("Glob", max=3),
        "zero": used("Bash", min=0, max=0),
        "zero-fails": used("Glob", min=0, max=0),
        "input": used("Read", input_match='\\{"file_path":"[^"]*/b\\.md"'),
        "input-unicode": used("Glob", input_match="größe"),
        "input-number": used("Grep", input_match='"head_limit":2[,}]'),
        "input-none": used("Read", input_match="zzz"),
        "input-empty": used("Glob", input_match=""),
        "case": used("read"),
        "unknown": used("NoSuchTool"),
        "refused": used("Write"),
        "empty-name": used(""),
        "order": order("Glob", "Read"),
        "order-back": order("Read", "Glob"),
        "order-same": order("Read", "Read"),
        "order-input": order("Glob", read),
        "order-first": order(read, "Grep"),
        "order-no-before": order("Bash", "Read"),
        "order-no-after": order("Read", "Bash"),
        "order-neither": order("Bash", {"tool": "Read", "input_match": "zzz"}),
    }
    suite.case("tools", graders)
    turns = [
        [tool("Glob", pattern="größe*")],
        [tool("Read", file_path="{cwd}/a.md"), tool("Read", file_path="{cwd}/b.md")],
        [tool("Grep", pattern="x", head_limit=2), tool("NoSuchTool", x=1)],
        [tool("Write", file_path="{cwd}/w.md", content="w")],
        "done",
    ]

    result = compare(suite, script(rule(turns=turns)), *ONE_ARM)

    check("tool_used and tool_order", result)


def test_subagent(suite: Suite) -> None:
    graders = {
        "agent": used("Agent"),
        "inner": used("Glob", min=2, max=2),
        "inner-order": order("Agent", "Glob"),
        "inner-text": regex("found nothing", target="trace"),
        "last": regex("^all done$"),
    }
    suite.case("subagent", graders)
    ask = tool("Agent", description="look", prompt="Look around", subagent_type="general-purpose")
    looks = [tool("Glob", pattern="*.x"), tool("Glob", pattern="*.y")]
    answers = script(
        rule(kind="subagent", turns=[looks, "found nothing"]), rule(turns=[[ask], "all done"])
    )

    result = compare(suite, answers, *ONE_ARM)

    check("subagent calls", result)


def test_patterns_that_do_not_compile(suite: Suite) -> None:
    suite.case("bad", {"inline": regex("(?i)abc"), "fine": regex("OK")})
    suite.case("flags", {"twice": regex("abc", flags="ii")})
    suite.case("bounds", {"crossed": used("Read", min=3, max=1)})
    suite.case("good", {"fine": regex("OK")})
    suite.case("max-0", {"never": used("Bash", max=0)})

    result = compare(suite, script(), *ONE_ARM)

    gone = [f"cases.evals/{name}" for name in ("bad", "flags", "bounds")]
    check("patterns that do not compile", result, {"D5": [*gone, "aggregates.*", "costUsd"]})
    assert result.ours.document is not None
    assert [case["name"] for case in result.ours.document["cases"]] == ["good", "max-0"]
    assert len(result.ours.document["loadErrors"]) == 3
