"""A session that meets no eval directory is as if the plugin were not there."""

from __future__ import annotations

import sys

import pytest


def test_output_is_the_same_without_the_plugin(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_x(): pass")
    options = ("-p", "no:cacheprovider", "-p", "no:randomly")

    with_plugin = pytester.runpytest_subprocess(*options).outlines
    without = pytester.runpytest_subprocess(*options, "-p", "no:plugin_eval").outlines

    assert _lasting(with_plugin) == _lasting(without)


def _lasting(lines: list[str]) -> list[str]:
    return [line for line in lines if " in " not in line and not line.startswith("plugins: ")]


def test_no_heavy_module_is_imported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_x():
            heavy = ("yaml", "pydantic", "py_mini_racer", "jinja2", "click", "filelock")
            assert [name for name in heavy if name in sys.modules] == []
        """
    )
    # Other plugins import some of these for themselves.
    plain = ("-p", "no:hypothesispytest", "-p", "no:html", "-p", "no:metadata", "-p", "no:anyio")

    result = pytester.run(
        sys.executable, "-c",
        "import pytest, sys; sys.exit(pytest.main(sys.argv[1:], plugins=[]))", *plain,
    )  # fmt: skip

    assert result.ret == 0, result.outlines


@pytest.mark.parametrize("name", ["evals", "evals/build", "evals/results"])
def test_directory_of_that_name_without_cases_is_ordinary(
    pytester: pytest.Pytester, name: str
) -> None:
    directory = pytester.mkpydir("evals") if name == "evals" else pytester.path / name
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "test_inside.py").write_text("def test_x(): pass", encoding="utf-8")

    result = pytester.runpytest("evals")
    plain = pytester.runpytest("evals", "-p", "no:plugin_eval")

    assert result.parseoutcomes() == plain.parseoutcomes()


def test_session_leaves_no_files(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_x(): pass")

    pytester.runpytest("-p", "no:cacheprovider")

    names = {path.name for path in pytester.path.iterdir()} - {"__pycache__"}
    assert names == {"test_session_leaves_no_files.py"}
