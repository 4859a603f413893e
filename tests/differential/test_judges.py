"""Graders that need a judge: the same votes, evidence and scores as the reference's."""

from __future__ import annotations

import json
import re

import pytest

from tests.differential.compare import Comparison, Json, check, compare
from tests.differential.suite import Fields, Suite, baseline, llm, regex
from tests.support.script import error, judge, rule, script, text, thinking, tool

pytestmark = pytest.mark.agent
pytest.importorskip("anthropic", reason="the judge is in the extra `judge`")

ONE_ARM = ("--ablation", "none")
# Votes go out together, so that the first answer may be another vote's.
ORDER = ("?*.judgeVotes.*", "?*.explanation")


def of_file(path: str) -> Fields:
    return {"source": "file", "path": path}


def verdicts(document: Json, case: str, arm: str = "with") -> dict[str, Json]:
    """Return the verdicts of the first run of a case, by grader."""
    (found,) = [one for one in document["cases"] if one["dir"] == f"evals/{case}"]
    return {one["name"]: one for one in found["arms"][arm][0]["graders"]}


def both(result: Comparison, case: str) -> list[dict[str, Json]]:
    return [verdicts(side.document, case) for side in (result.theirs, result.ours)]


def test_replies(suite: Suite) -> None:
    replies = {
        "plain": "PASS",
        "lower": "pass",
        "dot": "PASS.",
        "bold": "**PASS**",
        "sentence": "Verdict: PASS",
        "negated": "not pass",
        "json": '{"verdict":"PASS"}',
        "hyphen": "PASS-ish",
        "accent": "éPASSé",
        "fail": "FAIL",
        "both": "PASS because it does not FAIL",
        "lines": "FAIL\nPASS",
    }
    suite.case("replies", {name: llm(f"criterion {name};") for name in replies})
    rules = [judge(reply, contains=f"criterion {name};") for name, reply in replies.items()]

    result = compare(suite, script(*rules, rule(turns=["Bonjour"])), *ONE_ARM)

    check("replies of a judge", result)


def test_replies_without_a_verdict(suite: Suite) -> None:
    replies = ("Yes", "PASSED", "PASS1", "PASS_", "NOPASS", "FAILED")
    graders = {f"g{number}": llm(f"criterion {number};") for number in range(len(replies))}
    suite.case("unreadable", graders)
    rules = [judge(reply, contains=f"criterion {number};") for number, reply in enumerate(replies)]

    result = compare(suite, script(*rules, rule(turns=["Bonjour"])), *ONE_ARM)

    # Each is asked for once more.
    costs = ["costUsd", "cases.evals/unreadable.arms.with.0.*ostUsd"]
    check("replies without a verdict", result, {"D3": costs})


@pytest.mark.parametrize("reply", ["", " \n"], ids=["empty", "white space"])
def test_reply_without_text_is_no_vote(suite: Suite, reply: str) -> None:
    suite.case("mute", {"tone": llm("Is it good?")})

    result = compare(suite, script(judge(reply), rule(turns=["Bonjour"])), *ONE_ARM)

    # D2: nothing was said of the run, so it has no score; the reference counts FAIL votes.
    documents = (result.theirs.document, result.ours.document)
    (theirs,), (ours,) = (document["cases"] for document in documents if document is not None)
    assert theirs["arms"]["with"][0]["graders"][0]["judgeVotes"] == [False, False, False]
    (run,) = ours["arms"]["with"]
    assert (run["measured"], run["graders"]) == (False, [])
    assert "the judge answered without any text" in run["error"]


def test_majorities_and_weights(suite: Suite) -> None:
    graders = {
        "three": llm("criterion three;", weight=3),
        "two": llm("criterion two;", weight=0.5),
        "one": llm("criterion one;", weight=2),
        "none": llm("criterion none;"),
        "free": regex("Bonjour", weight=1.5),
    }
    suite.case("votes", graders, front={"runs": 2})
    answers = script(
        judge("PASS", contains="criterion three;"),
        judge("PASS", "FAIL", "PASS", contains="criterion two;"),
        judge("FAIL", "PASS", "FAIL", contains="criterion one;"),
        judge("FAIL", contains="criterion none;"),
        rule(turns=["Bonjour"]),
    )

    result = compare(suite, answers, *ONE_ARM)

    check("majorities and weights", result, {"order of votes": ORDER})
    theirs, ours = both(result, "votes")
    assert [sorted(one["judgeVotes"]) for one in ours.values() if "judgeVotes" in one] == [
        sorted(one["judgeVotes"]) for one in theirs.values() if "judgeVotes" in one
    ]


def test_focuses(suite: Suite) -> None:
    graders = {
        "last": llm("c", focus="last_message"),
        "default": llm("c"),
        "empty-criteria": llm(""),
        "files": llm("c", focus="files"),
        "file": llm("c", focus=of_file("a.txt")),
        "dotted": llm("c", focus=of_file("./sub/../a.txt")),
        "empty": llm("c", focus=of_file("sub/empty.txt")),
        "svg": llm("c", focus=of_file("i.svg")),
        "late-pdf": llm("c", focus=of_file("late.txt")),
        "missing": llm("c", focus=of_file("none.txt")),
        "directory": llm("c", focus=of_file("sub")),
        "mocks": llm("c", focus="mock_calls"),
    }
    suite.case("focuses", graders)
    suite.case("nothing", {"files": llm("c", focus="files"), "last": llm("c")})
    contents = {
        "a.txt": "één\r\n\u2028😀\n",
        "sub/empty.txt": "",
        "i.svg": "<svg/>",
        "late.txt": "\n%PDF-1.4",
    }
    writes = [
        tool("Write", file_path=f"{{cwd}}/{path}", content=content)
        for path, content in contents.items()
    ]
    answers = script(
        judge("PASS"),
        rule(prompt="Do focuses", turns=[writes, [text("first"), text("größe\n\\ 😀 last")]]),
        rule(turns=["  lead and trail \n"]),
    )

    result = compare(suite, answers, *ONE_ARM, "--allow-tools", "Write")

    texts = [
        "cases.evals/nothing.arms.with.0.graders.files.evidence",
    ]
    check("focuses of a judge", result, {"texts": texts})


def test_refused_files_and_images(suite: Suite) -> None:
    contents = {
        "nul.txt": "abc\0def",
        "x.pdf": "%PDF-1.4 hello",
        "x.zip": "PK\x03\x04hello",
        "not-zip": "PK\x05\x06hello",
        "dot.gif": "GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;",
        "gif.txt": "GIF87a\x05\0\x04\0\0\0\0",
        "cut.gif": "GIF89a",
    }
    names = {path: path.replace(".", "-") for path in contents}
    suite.case("binary", {names[path]: llm("c", focus=of_file(path)) for path in contents})
    writes = [
        tool("Write", file_path=f"{{cwd}}/{path}", content=content)
        for path, content in contents.items()
    ]

    result = compare(
        suite,
        script(judge("PASS"), rule(turns=[writes, "written"])),
        *ONE_ARM,
        "--allow-tools",
        "Write",
    )

    run = "cases.evals/binary.arms.with.0.graders"
    texts = [
        *(f"{run}.{name}.explanation" for name in ("nul-txt", "x-pdf", "x-zip", "cut-gif")),
        *(f"{run}.{name}.evidence" for name in ("dot-gif", "gif-txt")),
    ]
    check("refused files and images", result, {"texts": texts})
    theirs, ours = both(result, "binary")
    sizes = [
        re.findall(r"image/gif, \d+ bytes, \d+x\d+px", one["dot-gif"]["evidence"])[0]
        for one in (theirs, ours)
    ]
    assert sizes == ["image/gif, 29 bytes, 1x1px"] * 2


def test_cuts(suite: Suite) -> None:
    contents = {
        "short": "x" * 8_000,
        "noted": "x" * 8_001,
        "border": "y" * 100_000,
        "beyond": "a" * 80_000 + "z" + "b" * 20_000,
        "emoji": "😀" * 50_010,
    }
    suite.case("cuts", {name: llm("c", focus=of_file(name)) for name in contents})
    suite.case("message", {"long": llm("c")})
    writes = [
        tool("Write", file_path=f"{{cwd}}/{name}", content=content)
        for name, content in contents.items()
    ]
    answers = script(
        judge("PASS"),
        rule(prompt="Do cuts", turns=[writes, "written"]),
        rule(turns=["m" * 100_321]),
    )

    result = compare(suite, answers, *ONE_ARM, "--allow-tools", "Write")

    run = "cases.evals/cuts.arms.with.0.graders"
    noted = ("noted", "border", "beyond", "emoji")
    check("cuts", result, {"texts": [f"{run}.{name}.explanation" for name in noted]})
    theirs, ours = both(result, "cuts")
    note = re.compile(r"judge votes: PASS PASS PASS — note: long file \(\d+ chars\); ")
    assert [note.findall(ours[name]["explanation"]) for name in noted] == [
        note.findall(theirs[name]["explanation"]) for name in noted
    ]


@pytest.mark.parametrize("calls", [2, 20])
def test_trace(suite: Suite, calls: int) -> None:
    suite.case("trace", {"events": llm("c", focus="trace")})
    looks = [tool("Glob", pattern=f"{number}.none") for number in range(calls)]

    result = compare(suite, script(judge("PASS"), rule(turns=[looks, "done"])), *ONE_ARM)

    # Ids, times and places are of the session.
    evidence = "cases.evals/trace.arms.with.0.graders.events.evidence"
    check(f"trace of {calls} calls", result, {"of the session": [evidence]})
    theirs, ours = (one["events"]["evidence"].split("\n") for one in both(result, "trace"))
    assert [shape(line) for line in ours] == [shape(line) for line in theirs]


def shape(line: str) -> str:
    """Return the kind of an event, or the line that stands for several."""
    if not line.startswith("{"):
        return line
    event = json.loads(line)
    return f"{event['type']} {event.get('subtype', '')}"


def test_baseline(suite: Suite) -> None:
    graders = {
        "good": baseline("criterion good;", "b.jsonl", weight=2),
        "bad": baseline("criterion bad;", "refs/long.jsonl"),
        "empty": baseline("criterion empty;", "empty.jsonl"),
    }
    suite.case("base", graders)
    suite.write("evals/base/b.jsonl", '{"a": 1.0}\n\n"x"\r\n')
    suite.write("evals/base/refs/long.jsonl", "[]\n" * 30)
    suite.write("evals/base/empty.jsonl", "")
    answers = script(
        judge("PASS", contains=["criterion good;", '\n{"a":1}\n"x"\n']),
        judge("FAIL", contains=["criterion bad;", "[]\n[…6 messages elided…]\n[]"]),
        judge("PASS", contains="criterion empty;"),
        judge("unexpected"),
        rule(turns=["Bonjour"]),
    )

    result = compare(suite, answers, *ONE_ARM)

    check("baseline", result)


def test_both_arms(suite: Suite) -> None:
    graders = {
        "extra": llm("criterion extra;", arm="with-only"),
        "nice": llm("criterion nice;"),
        "both": llm("criterion both;", arm="both", weight=3),
    }
    suite.case("arms", graders)
    suite.case("all-extra", {"extra": llm("criterion extra;", arm="with-only")})
    answers = script(
        judge("FAIL", contains="criterion extra;"),
        judge("PASS", contains=["criterion nice;", "bonjour"]),
        judge("FAIL", contains="criterion nice;"),
        judge("PASS", contains="criterion both;"),
        rule(arm="with", plugin_text="demo:greet", turns=["bonjour"]),
        rule(turns=["hello"]),
    )

    result = compare(suite, answers)

    check("judges in both arms", result)


def test_failing_judge(suite: Suite) -> None:
    suite.case("refused", {"judged": llm("criterion refused;"), "free": regex("Bonjour")})
    suite.case("silent", {"judged": llm("criterion silent;"), "free": regex("Bonjour")})
    suite.case("fine", {"judged": llm("criterion fine;")})
    answers = script(
        {"kind": "bare", "contains": "criterion refused;", "runs": [[error(400)]]},
        {"kind": "bare", "contains": "criterion silent;", "runs": [[[thinking("hm")]]]},
        judge("PASS", contains="criterion fine;"),
        rule(turns=["Bonjour"]),
    )

    result = compare(suite, answers, *ONE_ARM)

    lost = ("graders.judged*", "score", "error", "?costUsd", "?judgeCostUsd")
    fields = [
        *(
            "?" * name.startswith("?") + f"cases.evals/{case}.arms.with.0.{name.lstrip('?')}"
            for case in ("refused", "silent")
            for name in lost
        ),
        *(f"cases.evals/{case}.aggregates.*" for case in ("refused", "silent")),
        *("partial", "partialReason", "?aggregates.*", "?costUsd"),
    ]
    check("failing judge", result, {"D2": fields})
    assert verdicts(result.ours.document, "refused")["free"]["passed"] is True
    assert "judgeVotes" not in verdicts(result.ours.document, "silent").get("judged", {})


def test_ceiling_before_the_judge(suite: Suite) -> None:
    suite.case("capped", {"judged": llm("criterion;"), "free": regex("Bonjour")})
    answers = script(judge("PASS"), rule(turns=["Bonjour"]))

    result = compare(suite, answers, *ONE_ARM, "--max-cost-usd", "0.0001")

    run = "cases.evals/capped.arms.with.0"
    fields = [
        *("exit_code", "partial", "partialReason", "?aggregates.*"),
        *(f"{run}.{name}" for name in ("score", "error", "graders.judged*")),
        "cases.evals/capped.aggregates.*",
    ]
    check("ceiling before the judge", result, {"D4": fields})
    assert result.ours.document is not None
    ours = result.ours.document["cases"][0]["arms"]["with"][0]
    assert (ours["skippedPaidGraders"], ours["judgeCostUsd"]) == (True, 0)
