"""Free graders: the same verdicts and explanations as the reference's."""

from __future__ import annotations

import pytest

from tests.differential.compare import check, compare
from tests.differential.suite import Fields, Suite, exists, order, regex, used
from tests.support.script import rule, script, text, thinking, tool

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


def test_tool_inputs_are_javascripts_json(suite: Suite) -> None:
    graders = {
        "integral": used("Grep", input_match='"head_limit":1[,}]'),
        "large": used("Grep", input_match='"n":1e\\+21[,}]'),
        "beyond-double": used("Grep", input_match='"m":12345678901234567000[,}]'),
        "small": used("Grep", input_match='"t":1e-7[,}]'),
        "minus-zero": used("Grep", input_match='"neg":0[,}]'),
        "number-keys-first": used("Grep", input_match='"1":"a","2":"b"'),
        "controls": used("Grep", input_match="\\\\u0001\\\\b\\\\f\\\\n\\\\r\\\\t\\\\u001f\x7f"),
        "line-separator": used("Grep", input_match='"e":"\u2028"'),
        "slash": used("Grep", input_match="</script>"),
        "one-unit": used("Grep", input_match='"emo":"."'),
        "two-units": used("Grep", input_match='"emo":".."'),
        "nested": used("Grep", input_match='"l":\\[1,\\{"b":true\\},\\[\\],null\\]'),
        "thought": regex("secret thought", target="trace"),
        "thought-last": regex("secret thought"),
        "odd-text": regex("^  lead a\\tb\\r\\nc\u2028d\u0001e trail  \\n$"),
    }
    suite.case("odd", graders)
    call = tool(
        "Grep", pattern="x", head_limit=1.0, n=1e21, m=12345678901234567890, t=1e-7, neg=-0.0,
        **{"2": "b", "1": "a"}, c="\x01\b\f\n\r\t\x1f\x7f", e="\u2028", s="</script>", emo="😀",
        l=[1, {"b": True}, [], None],
    )  # fmt: skip
    said = "  lead a\tb\r\nc\u2028d\x01e trail  \n"
    answers = script(rule(turns=[[thinking("secret thought"), call], said]))

    result = compare(suite, answers, *ONE_ARM)

    check("tool inputs and odd texts", result)


def test_odd_files(suite: Suite) -> None:
    def file(path: str, pattern: str, **options: object) -> Fields:
        return regex(pattern, target={"source": "file", "path": path}, **options)

    graders = {
        "listing": regex(
            "^\\.claude/x\\n\\.hid/x\\na\\.png\\na\\.txt\\nbig\\.txt\\n", target="files"
        ),
        "backslash": file("sub\\b.txt", "x"),
        "bom": file("bom.txt", "^x\\r\\ny$"),
        "nul": file("nul.bin", "a\\0b"),
        "no-image": file("a.png", "IHDR"),
        "image": file("a.txt", "GIF"),
        "large": file("big.txt", "end$"),
        "rewritten": file("twice.txt", "^second$"),
        "edited": file("edited.txt", "^new$"),
        "empty": file("empty.txt", "^$"),
        "slash": file("twice.txt/", "second"),
        "space": file(" twice.txt", "second"),
        "through-nothing": file("nosub/../twice.txt", "second"),
        "root": file(".", "x"),
        "none": file("", "x"),
        "absolute": file("/etc/hostname", "x"),
        "mock-calls": regex("x", target="mock_calls", match="not_contains"),
    }
    suite.case("files", graders)
    contents = {
        "bom.txt": "\ufeffx\r\ny", "nul.bin": "a\0b", "a.png": "\x89PNG\r\nIHDR",
        "a.txt": "GIF89a hi", "big.txt": "x" * 1_500_000 + "end", "twice.txt": "first",
        "edited.txt": "old", "empty.txt": "", "sub\\b.txt": "x", "node_modules/m.js": "x",
        ".hid/x": "x",
    }  # fmt: skip
    first = [tool("Write", file_path=f"{{cwd}}/{p}", content=c) for p, c in contents.items()]
    then = [
        tool("Write", file_path="{cwd}/twice.txt", content="second"),
        tool("Edit", file_path="{cwd}/edited.txt", old_string="old", new_string="new"),
        tool("Write", file_path="{cwd}/../outside.txt", content="x"),
        tool("Write", file_path="{cwd}/.claude/x", content="x"),
    ]
    answers = script(rule(turns=[first, then, "done"]))

    result = compare(suite, answers, *ONE_ARM, "--allow-tools", "Write", "Edit")

    run = "cases.evals/files.arms.with.0.graders"
    own = [f"{run}.{name}.explanation" for name in ("image", "absolute")]
    check("odd files", result, {"texts": own})


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
