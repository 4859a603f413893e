"""What the scripted model says in the recorded runs of `example_plugin`.

A model does not answer the same way twice. The three runs of an arm therefore differ, so that the
table of the example shows scores between 0 and 1, and why `runs` is 3 and not 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.example.quality_script import quality_rules
from tests.support.script import TurnData, judge, rule, script, text, tool, turn

Turns = Sequence[TurnData]

MESSAGE = "git-scribe:commit-message"
CHANGELOG = "git-scribe:changelog"
PLUGIN_TEXT = MESSAGE
HOOK_SAYS = "CHANGELOG.md breaks the format"

BODY = """\
The timeout counted from the sign-in: people lost their work after an hour, however busy."""
GOOD = f"""\
```
fix(auth): let sessions expire an hour after their last use

{BODY}
```"""
TERSE = "```\nfix(auth): count the session timeout from last use\n```"
PLAIN = "`Fix session expiry to use last_used_at instead of created_at`"
VAGUE = "`Update session.py`"
SAID_WITHOUT_SKILL = (
    "You could use:\n\n    git commit -m 'Fix session timeout being counted from sign-in'"
)


def example_script(plugin: Path) -> dict[str, object]:
    """Return the script; *plugin* is where the agent finds the plugin, of which it reads a file."""
    return script(
        *_commit_messages(),
        *_changelog_from_commits(plugin),
        *_looks_before_writing(plugin),
        *_review(),
        *_undo(),
        *_one_line(),
        *quality_rules(),
        plugin_text=PLUGIN_TEXT,
    )


def _runs(prompt: str, arm: str, *runs: Turns) -> dict[str, object]:
    return rule(prompt=prompt, arm=arm, runs=list(runs))


def _call(name: str, /, said: str = "", **inputs: object) -> dict[str, object]:
    """Return a turn that calls a tool, with token counts of a likely size."""
    blocks = [text(said)] if said else []
    return turn(*blocks, tool(name, **inputs), usage={"input": 2100, "output": 90})


def _say(said: str) -> dict[str, object]:
    return turn(said, usage={"input": 2600, "output": 110})


def _with_skill(skill: str, *turns: TurnData) -> Turns:
    return [_call("Skill", skill=skill), *turns]


def _commit_messages() -> list[dict[str, object]]:
    good, terse = _with_skill(MESSAGE, _say(GOOD)), _with_skill(MESSAGE, _say(TERSE))
    plain, vague = [_say(PLAIN)], [_say(VAGUE)]
    asked, hurry, put = "Write the commit message", "commit msg for this", "What do I put"
    missed = [_say(SAID_WITHOUT_SKILL)]
    return [
        _runs(asked, "with", good, terse, good),
        _runs(asked, "without", plain, [_say(TERSE)], plain),
        _runs(hurry, "with", terse, terse, terse),
        _runs(hurry, "without", plain, vague, plain),
        # The description of the skill has to win this one by its meaning alone; once it does not.
        _runs(put, "with", good, missed, terse),
        _runs(put, "without", missed, missed, plain),
    ]


def _changelog_from_commits(plugin: Path) -> list[dict[str, object]]:
    prompt, path = "We release 1.4.0", "{cwd}/CHANGELOG.md"
    done = _say("Added release 1.4.0 to CHANGELOG.md. The CI and the test dependency are left out.")
    start = (
        _call("Glob", pattern="CHANGELOG*"),
        _call("Read", file_path=str(plugin / "skills/changelog/references/format.md")),
    )
    write = _call("Write", file_path=path, content=_release("Added", "Fixed"))
    odd = _call("Write", file_path=path, content=_release("New", "Fixed"))
    mend = _call("Edit", file_path=path, old_string="### New", new_string="### Added")
    bare = _call("Write", file_path=path, content=_COMMIT_LIST)
    tidy = _call("Write", file_path=path, content=_release("Features", "Bug fixes"))
    told = _say("I created CHANGELOG.md with the changes of 1.4.0.")
    told_by_hook = _with_skill(CHANGELOG, *start, odd, mend, done)
    return [
        # The second run goes on here once the hook has objected to a heading.
        rule(prompt=prompt, arm="with", contains=HOOK_SAYS, turns=told_by_hook),
        _runs(
            prompt,
            "with",
            _with_skill(CHANGELOG, *start, write, done),
            _with_skill(CHANGELOG, *start, odd, done),
            _with_skill(CHANGELOG, start[1], write, done),
        ),
        _runs(prompt, "without", [bare, told], [tidy, told], [bare, told]),
    ]


def _release(new: str, fixed: str) -> str:
    return f"""\
# Changelog

## [1.4.0] - 2026-03-02

### {new}

- `--retries N` tries a failed download again.

### {fixed}

- A cached file that is older than the server's copy is downloaded again.
- A full disk ends the command with status 2 and a message instead of a traceback.
"""


_COMMIT_LIST = """\
# Changelog

## 1.4.0 (2026-03-02)

- Add --retries to try a failed download again
- Do not serve files older than the server's copy
- Run ruff before the tests in CI
- Exit with 2 instead of a traceback when the disk is full
- Bump pytest from 9.0.1 to 9.0.2
"""


def _looks_before_writing(plugin: Path) -> list[dict[str, object]]:
    prompt, path = "3.0.0 goes out tomorrow", "{cwd}/CHANGELOG.md"
    look = _call("Glob", pattern="CHANGELOG*")
    read = _call("Read", file_path=str(plugin / "skills/changelog/references/format.md"))
    write = _call("Write", file_path=path, content=_MAJOR)
    loose = _call("Write", file_path=path, content=_MAJOR.replace("**Breaking:** ", ""))
    done = _say("There was no changelog, so I started one with release 3.0.0.")
    return [
        _runs(
            prompt,
            "with",
            _with_skill(CHANGELOG, look, read, write, done),
            # Straight to the file: the order is missed, and so is the skill's format.
            _with_skill(CHANGELOG, write, done),
            _with_skill(CHANGELOG, look, read, write, done),
        ),
        _runs(prompt, "without", [loose, done], [look, loose, done], [loose, done]),
    ]


_MAJOR = """\
# Changelog

## [3.0.0] - 2026-04-10

### Changed

- **Breaking:** `--fmt` is now called `--format`; adapt scripts that use the old name.

### Removed

- **Breaking:** Python 3.9; use 3.10 or later.
"""


def _review() -> list[dict[str, object]]:
    prompt = "have a look at this before I commit"
    ask = _call(
        "Agent",
        description="Review the diff",
        prompt="Review the change to stats/mean.py: values[0] is read first, a print was added.",
        subagent_type="git-scribe:diff-reviewer",
        run_in_background=False,
    )
    report = (
        "stats/mean.py:2: `values[0]` raises IndexError for an empty list. Line 3: leftover print."
    )
    both = _say(
        "Two things: `values[0]` raises IndexError when the list is empty, and the debug `print` "
        "should go."
    )
    half = _say("The debug `print` should go before you commit. The rest looks fine.")
    return [
        _runs(prompt, "with", [ask, both], [ask, both], [half]),
        _runs(prompt, "without", [half], [half], [both]),
        rule(kind="subagent", prompt="Review the change to stats/mean.py", turns=[_say(report)]),
        judge("PASS", contains="raises IndexError when the list is empty"),
        judge("FAIL", contains="The rest looks fine"),
    ]


def _undo() -> list[dict[str, object]]:
    answer = [
        _say(
            "Make the branch where you are, then move main back:\n\n"
            "    git branch my-branch\n    git reset --soft HEAD~1\n\n"
            "`--soft` leaves your changes staged."
        )
    ]
    return [rule(prompt="I committed to main instead", runs=[answer])]


def _one_line() -> list[dict[str, object]]:
    prompt = "We do not use prefixes"
    plain = _say("Require Python 3.11 or later")
    prefixed = _say("```\ndocs: require python 3.11 or later\n```")
    return [
        _runs(
            prompt,
            "with",
            _with_skill(MESSAGE, plain),
            _with_skill(MESSAGE, prefixed),
            _with_skill(MESSAGE, plain),
        ),
        _runs(prompt, "without", [plain], [plain], [plain]),
    ]
