"""`plugin-eval doctor`: every check broken in turn, and nothing asked, sent or left behind."""

from __future__ import annotations

import io
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from pytest_plugin_eval.cli import doctor_checks
from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.storage.marker import MARKER
from tests.support.proposals import KILLED_NEW, killed_new
from tests.support.suites import GRADER, MANIFEST, write_tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")

KEY = "sk-ant-api03-SECRETSECRET"
STAMP = "2026-01-31T12-00-00-000Z"
COMMAND = (
    sys.executable,
    "-c",
    "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())",
)
DEAD_PROCESS = 2**22 + 7
"""Above what Linux gives to a process by default."""


class Done(NamedTuple):
    """What came of the command."""

    status: int
    out: str
    err: str


@dataclass(slots=True)
class Place:
    """A machine on which all is well, to be broken by a test."""

    top: Path
    capsys: pytest.CaptureFixture[str]
    options: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    target: str = "."

    @property
    def plugin(self) -> Path:
        return self.top / "plugin"

    def write(self, name: str, text: str) -> Path:
        write_tree(self.plugin, {name: text})
        return self.plugin / name

    def program(self, name: str, answer: str) -> Path:
        """Write a program that notes how it is started."""
        file = self.top / "bin" / name
        file.parent.mkdir(exist_ok=True)
        log = self.top / f"{name}.log"
        file.write_text(f"#!/bin/sh\necho \"$@\" >> '{log}'\necho '{answer}'\n", encoding="utf-8")
        file.chmod(0o755)
        return file

    def run(self, *more: str, apart: bool = False) -> Done:
        """Run the command, where a test is not about the process in this one."""
        arguments = ["doctor", self.target, *self.options, *more]
        return self._run_apart(arguments) if apart else self._run_here(arguments)

    def _run_here(self, arguments: list[str]) -> Done:
        with pytest.MonkeyPatch.context() as patch:
            for name in list(os.environ):
                patch.delenv(name)
            for name, value in self.env.items():
                patch.setenv(name, value)
            patch.chdir(self.plugin)
            patch.setattr(sys, "stdin", io.StringIO())
            status = main(arguments)
        out, err = self.capsys.readouterr()
        return Done(status, out, err)

    def _run_apart(self, arguments: list[str]) -> Done:
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=self.plugin,
            env={**self.env, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def checks(self, *, apart: bool = False) -> tuple[int, dict[str, dict[str, Any]]]:
        """Return the exit code and the checks by name, the worst of a name first."""
        done = self.run("--json", apart=apart)
        assert KEY not in done.out + done.err
        assert "Traceback" not in done.err, done.err
        found = json.loads(done.out)
        assert found["ready"] == (done.status == 0)
        worst = sorted(found["checks"], key=lambda check: "owp".index(check["sign"][0]))
        return done.status, {check["name"]: check for check in worst}


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    made = Place(tmp_path, capsys)
    write_tree(
        made.plugin, {**MANIFEST, "evals/first/prompt.md": "Hi", "evals/first/graders/a.md": GRADER}
    )
    made.program("claude", "2.1.332 (Claude Code)")
    made.program("git", "git version 2.39.5")
    made.options = ["--trust-plugin"]
    made.env = {
        "PATH": os.pathsep.join((str(tmp_path / "bin"), "/usr/bin", "/bin")),
        "HOME": str(tmp_path / "home"),
        "ANTHROPIC_API_KEY": KEY,
    }
    return made


def test_all_is_well(place: Place) -> None:
    status, checks = place.checks(apart=True)

    assert {name: check["sign"] for name, check in checks.items()} == dict.fromkeys(
        (
            *("versions", "git", "agent", "credentials", "service", "extras", "suite", "advice"),
            *("trust", "run directories", "judge", "cost", "tools", "results", "disk space"),
        ),
        "ok",
    )
    assert status == 0
    assert "Claude Code 2.1.332" in checks["agent"]["text"]
    assert checks["credentials"]["text"] == "an API key, by ANTHROPIC_API_KEY (not tried)"
    assert checks["suite"]["text"] == f"1 case in {place.plugin}"
    assert checks["cost"]["text"].startswith("1 case, 6 runs, 0 judge calls; cost: unknown")


def test_agent_is_started_for_its_version_alone_and_nothing_is_sent(place: Place) -> None:
    place.write("evals/first/graders/nice.md", "---\ntype: llm\ncriteria: Nice?\n---\n")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        place.env["ANTHROPIC_BASE_URL"] = f"http://127.0.0.1:{server.getsockname()[1]}"

        status, checks = place.checks()

        with pytest.raises(BlockingIOError):
            server.accept()
    assert (status, checks["judge"]["sign"]) == (0, "ok")
    assert (place.top / "claude.log").read_text().split() == ["--version"]
    assert set((place.top / "git.log").read_text().split()) == {"--version"}


def test_nothing_is_left_in_the_plugin(place: Place) -> None:
    before = sorted(place.plugin.rglob("*"))

    place.checks()

    assert sorted(place.plugin.rglob("*")) == before


def no_agent(place: Place) -> None:
    place.options += ["--agent-path", "nowhere"]


def old_agent(place: Place) -> None:
    place.program("claude", "2.1.100 (Claude Code)")


def other_agent(place: Place) -> None:
    place.program("claude", "hello")


def old_git(place: Place) -> None:
    place.program("git", "git version 2.20.1")


def no_credentials(place: Place) -> None:
    del place.env["ANTHROPIC_API_KEY"]


def bad_credentials(place: Place) -> None:
    place.env["ANTHROPIC_API_KEY"] = f"'{KEY}'"


def bad_address(place: Place) -> None:
    place.env["ANTHROPIC_BASE_URL"] = "gateway.example"


def no_run_root(place: Place) -> None:
    place.options += ["--run-root", "/proc/runs"]


def run_root_in_plugin(place: Place) -> None:
    place.options += ["--run-root", str(place.plugin / "runs")]


def no_target(place: Place) -> None:
    place.target = "nowhere"


def no_cases(place: Place) -> None:
    (place.plugin / "evals").rename(place.plugin / "other")


def no_match(place: Place) -> None:
    place.options += ["--case", "nothing"]


def broken_case(place: Place) -> None:
    place.write("evals/second/prompt.md", "---\nruns: many\n---\nHi")
    place.write("evals/second/graders/a.md", GRADER)


def untrusted(place: Place) -> None:
    place.options.remove("--trust-plugin")


def bad_trust_file(place: Place) -> None:
    untrusted(place)
    file = place.top / "home" / ".config" / "pytest-plugin-eval" / "trusted.json"
    file.parent.mkdir(parents=True)
    file.write_text("[]", encoding="utf-8")


def no_sandbox(place: Place) -> None:
    place.env["PATH"] = str(place.top / "bin")
    place.options += ["--allow-tools", "Bash"]


def long_run_root(place: Place) -> None:
    place.program("bwrap", "")
    place.program("socat", "")
    place.options += ["--allow-tools", "Bash", "--run-root", str(place.top / ("r" * 80))]


def bad_sandbox(place: Place) -> None:
    place.program("socat", "")
    place.program("bwrap", "").write_text("#!/bin/sh\necho no namespaces >&2\nexit 1\n")
    place.env["XDG_CACHE_HOME"] = "/tmp/c"  # noqa: S108 -- short, and never made: the check stops
    place.options += ["--allow-tools", "Bash"]


def no_judge(place: Place) -> None:
    place.write("evals/first/graders/nice.md", "---\ntype: llm\ncriteria: Nice?\n---\n")
    del place.env["ANTHROPIC_API_KEY"]
    place.env["CLAUDE_CODE_OAUTH_TOKEN"] = "sk-ant-oat01-SECRETSECRET"
    no_agent(place)


def unpriced_judge_under_a_ceiling(place: Place) -> None:
    place.write("evals/first/graders/nice.md", "---\ntype: llm\ncriteria: Nice?\n---\n")
    place.options += ["--judge-model", "home-made", "--max-cost-usd", "1"]


def no_results(place: Place) -> None:
    place.write("evals/results", "a file")


BROKEN: dict[str, tuple[Callable[[Place], None], str, str]] = {
    "agent-missing": (no_agent, "agent", "is not a file"),
    "agent-old": (old_agent, "agent", "expected 2.1.269 or later"),
    "agent-other": (other_agent, "agent", "expected that of Claude Code"),
    "git-old": (old_git, "git", "expected 2.31 or later"),
    "no-credentials": (no_credentials, "credentials", "none found"),
    "credentials-malformed": (bad_credentials, "credentials", "quotation mark"),
    "service": (bad_address, "service", "no address"),
    "run-root": (no_run_root, "run directories", "/proc/runs"),
    "run-root-in-plugin": (run_root_in_plugin, "run directories", "must not write"),
    "no-target": (no_target, "suite", "no such file"),
    "no-cases": (no_cases, "suite", "no eval cases found"),
    "no-match": (no_match, "suite", "no case is selected"),
    "broken-case": (broken_case, "suite", "1 case did not load"),
    "untrusted": (untrusted, "trust", "not trusted yet"),
    "trust-file": (bad_trust_file, "trust", "remove the file"),
    "no-sandbox": (no_sandbox, "tools", "apt-get install bubblewrap socat"),
    "sandbox-length": (long_run_root, "tools", "too long"),
    "sandbox-trial": (bad_sandbox, "tools", "no namespaces"),
    "no-judge": (no_judge, "judge", "no judge"),
    "judge-price": (unpriced_judge_under_a_ceiling, "judge", "home-made"),
    "results": (no_results, "results", "cannot be written"),
}


@pytest.mark.parametrize(("break_it", "name", "words"), BROKEN.values(), ids=BROKEN)
def test_problem(break_it: Callable[[Place], None], name: str, words: str, place: Place) -> None:
    break_it(place)

    status, checks = place.checks()

    assert (status, checks[name]["sign"]) == (1, "problem")
    assert words in checks[name]["text"]


def test_broken_case_is_named_with_its_line(place: Place) -> None:
    broken_case(place)

    _, checks = place.checks()

    (detail,) = (one for one in checks["suite"]["details"] if one.startswith("error: "))
    assert "evals/second/prompt.md:2: runs must be a whole number from 1 to 50" in detail


def unknown_price(place: Place) -> None:
    place.write("evals/first/graders/nice.md", "---\ntype: llm\ncriteria: Nice?\n---\n")
    place.options += ["--judge-model", "home-made"]


def password_in_address(place: Place) -> None:
    place.env["ANTHROPIC_BASE_URL"] = f"https://me:{KEY}@gateway.example"


def shell_wanted(place: Place) -> None:
    place.write("evals/first/prompt.md", "---\nallowed_tools: ['Bash(ls:*)']\n---\nHi")


def killed_session(place: Place) -> None:
    directory = place.plugin / "evals" / "results" / STAMP
    directory.mkdir(parents=True)
    (directory / MARKER).write_text(f"{STAMP} {DEAD_PROCESS}", encoding="utf-8")


def doubtful_case(place: Place) -> None:
    place.write("evals/first/case.yaml", 'schema_version: "1.0"\nname: x\ndescripton: d\n')


DOUBTFUL: dict[str, tuple[Callable[[Place], None], str, str]] = {
    "judge-price": (unknown_price, "judge", "whose price is not known"),
    "address": (password_in_address, "service", "https://gateway.example (not contacted)"),
    "shell": (shell_wanted, "sandbox", "1 case would use Bash, which is not granted"),
    "killed-session": (killed_session, "sessions", "a session was killed"),
    "case": (doubtful_case, "advice", "1 warning"),
}


@pytest.mark.parametrize(("change", "name", "words"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_warning(change: Callable[[Place], None], name: str, words: str, place: Place) -> None:
    change(place)

    # In a process of its own, since warnings are errors in this one.
    status, checks = place.checks(apart=True)

    assert (status, checks[name]["sign"]) == (0, "warning")
    assert words in checks[name]["text"]


def test_cases_of_a_killed_new_are_named(place: Place) -> None:
    case = {"evals/group/left/prompt.md": "Hi", "evals/group/left/graders/a.md": GRADER}
    write_tree(place.plugin, {**case, **killed_new("first", "group/left", "gone")})

    status, checks = place.checks()

    check = checks["new cases"]
    assert (status, check["sign"]) == (0, "warning")
    assert check["text"] == "2 cases left by an interrupted plugin-eval new"
    evals = place.plugin / "evals"
    assert check["details"] == [str(evals / "first"), str(evals / "group/left")]
    assert check["remedy"].endswith(f"and remove {evals / KILLED_NEW}")


def test_session_that_goes_on_is_named(place: Place) -> None:
    killed_session(place)
    marker = place.plugin / "evals" / "results" / STAMP / MARKER
    marker.write_text(f"of-a-test {os.getpid()}", encoding="utf-8")

    status, checks = place.checks()

    assert (status, checks["sessions"]["sign"]) == (0, "ok")
    assert f"process {os.getpid()} writes results to" in checks["sessions"]["text"]


def test_directories_of_killed_sessions_are_told_and_removed(place: Place) -> None:
    root = place.top / "runs"
    for name in ("eval-0badcafe-1", "eval-0badcafe-2", "kept-0badcafe-3"):
        (root / name).mkdir(parents=True)
    (root / "eval-0badcafe.lock").touch()
    place.options += ["--run-root", str(root)]

    _, checks = place.checks()

    assert checks["run directories"]["details"] == [
        "2 directories of killed sessions removed, as a session would have done",
        f"1 directory kept by --keep-temp, to be removed by you: {root}/kept-*",
    ]
    assert [path.name for path in root.iterdir()] == ["kept-0badcafe-3"]


@pytest.mark.parametrize(("free", "sign"), [(2**34, "ok"), (2**28, "warning"), (2**20, "problem")])
def test_disk_space(free: int, sign: str, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=2**40, free=free))

    status, checks = place.checks()

    assert (status, checks["disk space"]["sign"]) == (sign == "problem", sign)
    assert f"{free // 2**20} MiB free for " in checks["disk space"]["text"]


@pytest.mark.parametrize("extra", doctor_checks.EXTRAS)
def test_use_of_an_extra_reads_on_after_no(extra: str) -> None:
    _, use = doctor_checks.EXTRAS[extra]

    assert use.split()[0] not in ("a", "an", "the", "one")


def test_missing_extra_is_named_with_its_command(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(doctor_checks.EXTRAS, "judge", (("no_such_package",), "judges"))

    status, checks = place.checks()

    assert (status, checks["extras"]["sign"]) == (0, "ok")
    assert checks["extras"]["details"] == [
        "without judge: no judges (pip install 'pytest-plugin-eval[judge]')"
    ]


def test_mocks_without_their_extra_are_a_problem(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("evals/mocks/srv/find.md", "found")
    place.write("evals/mocks/srv/_tools.json", '{"tools": [{"name": "find"}]}')
    monkeypatch.setitem(sys.modules, "pytest_plugin_eval.mocks.protocol", None)

    status, checks = place.checks()

    assert (status, checks["mocks"]["sign"]) == (1, "problem")
    assert "pip install 'pytest-plugin-eval[mocks]'" in checks["mocks"]["text"]


def test_mocks_that_a_model_plays_name_it(place: Place) -> None:
    place.write("evals/mocks/srv/tool.md", "---\ntype: agent\n---\nYou are a tracker.")

    status, checks = place.checks(apart=True)

    assert (status, checks["mocks"]["sign"]) == (0, "ok")
    assert checks["mocks"]["text"].startswith("answers by a model come from Messages API")


def test_cost_is_estimated_by_earlier_results(place: Place) -> None:
    run = {"costUsd": 0.5, "measured": True}
    document = {"cases": [{"arms": {"with": [run], "without": [{**run, "costUsd": 0.25}]}}]}
    place.write(f"evals/results/{STAMP}/aggregate-result.json", json.dumps(document))
    place.options += ["--runs", "2"]

    _, checks = place.checks()

    assert checks["cost"]["text"] == (
        "1 case, 4 runs, 0 judge calls; cost: $1.00 to $2.00 by 2 earlier runs"
    )


def test_trusted_plugin_needs_no_option(place: Place) -> None:
    untrusted(place)
    file = place.top / "home" / ".config" / "pytest-plugin-eval" / "trusted.json"
    file.parent.mkdir(parents=True)
    trusted = {"schema": 1, "directories": [str(place.plugin.resolve())]}
    file.write_text(json.dumps(trusted), encoding="utf-8")

    status, checks = place.checks()

    assert (status, checks["trust"]["text"]) == (0, "every plugin is trusted")


@pytest.mark.parametrize("names", [("HOME",), ("HOME", "PATH"), ("HOME", "ANTHROPIC_API_KEY")])
def test_bare_environment_is_told_of_without_a_traceback(
    names: tuple[str, ...], place: Place
) -> None:
    place.env = {name: value for name, value in place.env.items() if name not in names}
    place.options += ["--run-root", str(place.top / "runs")]

    _, checks = place.checks()

    assert checks["suite"]["sign"] == "ok"


def test_text_shows_in_ascii(place: Place) -> None:
    place.write(".claude-plugin/plugin.json", '{"name": "größe-Δ", "version": "1.0.0"}')
    place.env["PYTHONIOENCODING"] = "ascii"
    untrusted(place)

    done = place.run(apart=True)

    lines = done.out.splitlines()
    assert (done.status, done.err) == (1, "")
    assert done.out.isascii()
    assert any(line.startswith("problem  trust: not trusted yet: ") for line in lines)
    assert any(line.startswith("         > pass --trust-plugin") for line in lines)
    assert lines[-1] == "not ready: 1 problem (trust)"


def test_ready_is_said_at_the_end(place: Place) -> None:
    done = place.run()

    assert done.status == 0
    assert done.out.splitlines()[-1] == "ready"


def test_bad_option_is_refused(place: Place) -> None:
    done = place.run("--runs", "many")

    assert done.status == 1
    assert done.err.startswith("Error: --runs: ")
