"""Finding records, document and suite of saved results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.reports.document import document
from pytest_plugin_eval.results.saved import saved_results, suite_place
from tests.support.results import mixed_suite
from tests.support.suites import MANIFEST, ONE_GRADER, write_tree

CASE = {"prompt.md": "Do it.", **ONE_GRADER}
RECORD = "evals/it/with-1.jsonl"


def text_of(root: Path | str, *, eval_dir: Path | str = "", harness: bool = True) -> str:
    """Return a document of results whose suite is in *root*."""
    fields = document(mixed_suite(root=str(root), eval_dir=str(eval_dir or Path(root) / "evals")))
    if not harness:
        del fields["harness"]
    return json.dumps(fields)


def suite(root: Path, *, at: str = "evals") -> Path:
    """Write a plugin with one case and return its directory."""
    return write_tree(root, {**MANIFEST, **{f"{at}/it/{k}": v for k, v in CASE.items()}})


def test_results_of_a_session(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"runs/{RECORD}": "", "aggregate-result.json": text_of("/plugin")})

    found = saved_results(tmp_path)

    assert (found.records, [key.case for key in found.keys]) == (tmp_path / "runs", ["evals/it"])
    assert found.document is not None
    assert found.document.suite.root == "/plugin"


def test_results_of_a_killed_session_have_no_document(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"runs/{RECORD}": ""})

    assert saved_results(tmp_path).document is None


@pytest.mark.parametrize("case", ["evals/it", "evals/runs"])
def test_recordings_are_found_whatever_the_case_is_called(tmp_path: Path, case: str) -> None:
    write_tree(
        tmp_path, {f"recordings/{case}/with-1.jsonl": "", "recordings/other/with-1.jsonl": ""}
    )

    found = saved_results(tmp_path / "recordings")

    assert case in [key.case for key in found.keys]


@pytest.mark.parametrize(
    ("files", "name", "message"),
    [
        pytest.param({}, "gone", "no such directory, expected a results directory", id="missing"),
        pytest.param({"x": ""}, "x", "is a file, expected a results directory", id="file"),
        pytest.param({"r/x": ""}, "r", "holds no record of a run, expected runs/", id="nothing"),
        pytest.param(
            {"r/aggregate-result.json": text_of("/p").replace('"live"', '"replay"')},
            "r",
            "holds the document of a replay and no record of a run, expected the directory that",
            id="replay's",
        ),
        pytest.param(
            {
                "r/results/2/aggregate-result.json": "{}",
                "r/results/1/aggregate-result.json": "{}",
                f"r/results/1/runs/{RECORD}": "",
            },
            "r",
            "r/results/1",
            id="replay above results",
        ),
        pytest.param(
            {"r/results/2/aggregate-result.json": "{}", f"r/recordings/{RECORD}": ""},
            "r",
            "r/recordings",
            id="replay above recordings",
        ),
        pytest.param(
            {"r/aggregate-result.json": text_of("/p", harness=False)},
            "r",
            "was written by claude plugin eval, which keeps no records",
            id="reference's",
        ),
        pytest.param(
            {
                f"r/{name}/{file}": text
                for name in ("2025", "2026")
                for file, text in ((f"runs/{RECORD}", ""), ("aggregate-result.json", "{}"))
            },
            "r",
            "expected one of them, such as ",
            id="several",
        ),
        *(
            pytest.param(
                {f"{above}/2026/aggregate-result.json": "{}", f"{above}/2026/runs/{RECORD}": ""},
                "r",
                "expected one of them, such as ",
                id=above,
            )
            for above in ("r/results", "r/evals/results")
        ),
        pytest.param(
            {f"r/runs/{RECORD}": "", "r/aggregate-result.json": "{"},
            "r",
            "aggregate-result.json: is no result document",
            id="broken-document",
        ),
    ],
)
def test_what_cannot_be_graded_is_said(
    tmp_path: Path, files: dict[str, str], name: str, message: str
) -> None:
    write_tree(tmp_path, files)

    with pytest.raises(EvalError) as caught:
        saved_results(tmp_path / name)

    assert str(caught.value).startswith(str(tmp_path / name))
    assert message in str(caught.value)


def results(directory: Path, written: str | None) -> Path:
    """Write results with a document and return their directory."""
    files = {f"runs/{RECORD}": ""} | ({} if written is None else {"aggregate-result.json": written})
    return write_tree(directory, files)


def test_suite_is_where_the_document_says(tmp_path: Path) -> None:
    plugin = suite(tmp_path / "plugin")
    saved = saved_results(results(tmp_path / "elsewhere", text_of(plugin)))

    place = suite_place(saved)

    found = place.case("evals/it")
    assert place.root == plugin
    assert found is not None
    assert found[0] == plugin / "evals/it"
    assert place.case("evals/gone") is None


@pytest.mark.parametrize("written", [None, text_of("/nowhere/on/this/machine")])
def test_suite_around_the_results(tmp_path: Path, written: str | None) -> None:
    plugin = suite(tmp_path / "plugin")
    saved = saved_results(results(plugin / "evals/results/2026", written))

    assert suite_place(saved).root == plugin


def test_suite_around_recordings(tmp_path: Path) -> None:
    plugin = suite(tmp_path / "plugin")
    write_tree(plugin, {f"evals/recordings/{RECORD}": ""})

    assert suite_place(saved_results(plugin / "evals/recordings")).root == plugin


def test_root_is_named_for_results_from_elsewhere(tmp_path: Path) -> None:
    plugin = suite(tmp_path / "plugin")
    saved = saved_results(results(tmp_path / "download", text_of("/nowhere/on/this/machine")))

    with pytest.raises(EvalError, match=r"it was in /nowhere/on/this/machine; name .* --root"):
        suite_place(saved)
    assert suite_place(saved, root=plugin).case("evals/it") is not None


def test_eval_directory_of_another_name(tmp_path: Path) -> None:
    plugin = suite(tmp_path / "plugin", at="qa/x")
    written = text_of(plugin, eval_dir=plugin / "qa/x")

    place = suite_place(saved_results(results(tmp_path / "elsewhere", written)))

    assert place.eval_dir == "qa/x"
    assert place.case("qa/x/it") is not None
