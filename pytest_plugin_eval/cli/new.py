"""`plugin-eval new`: a blank case, or cases that a model proposes."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from pytest_plugin_eval.cases.new_case import TEMPLATE, case_directory, new_case_parent
from pytest_plugin_eval.cli.output import say
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.storage.new_files import write_new_directory

if TYPE_CHECKING:
    from pytest_plugin_eval.cli.new_cases import NewOptions
    from pytest_plugin_eval.quality.asking import Asking
    from pytest_plugin_eval.spending.ledger import Ledger

__all__ = ["new_bare", "new_proposed"]

_SIGNALLED = 128


def new_bare(name: str, *, eval_dir: str | None = None, root: Path | None = None) -> int:
    """Write a blank case below the plugin in *root*, the working directory by default.

    Returns the exit code. Raises `EvalError` for a name that is taken or cannot be used, and where
    there is no plugin.
    """
    here = Path.cwd()
    directory = case_directory(new_case_parent(root or here, eval_dir), name)
    paths = [os.path.relpath(path, here) for path in write_new_directory(directory, TEMPLATE)]
    say(f"Created {' and '.join(paths)}")
    return 0


def new_proposed(options: NewOptions, *, unattended: bool) -> int:
    """Have cases proposed for the plugin in the working directory, and return the exit code.

    *unattended*: nobody is asked, since all is said in the options. Raises `EvalError` before
    anything is spent where it could not go on to the end.
    """
    import signal

    from pytest_plugin_eval.cli.new_cases import author
    from pytest_plugin_eval.cli.new_console import Terminal, Unattended
    from pytest_plugin_eval.signals import handled

    root = Path.cwd()
    _check_sign_in()
    if unattended and options.may_try and not options.run.trust_plugin:
        _check_trust(root)
    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 -- signal's
        received.append(number)
        raise KeyboardInterrupt

    console = Unattended() if unattended else Terminal()
    try:
        with handled(interrupt):
            code = author(options, console, root=root, asking=partial(_asking, options))
            # pytest makes an exit status of an interruption, and knows no signal but Ctrl-C's.
            return _SIGNALLED + received[0] if received and code >= _SIGNALLED else code
    except KeyboardInterrupt:
        say("interrupted: of what was not accepted nothing is left")
        return _SIGNALLED + (received[0] if received else signal.SIGINT)


def _check_sign_in() -> None:
    """Raise `EvalError` where no credential is to be seen, without trying any."""
    from pytest_plugin_eval.execution.sign_in import sign_in

    if sign_in(os.environ, time.time()) is None:
        raise EvalError(
            "no model can be asked for cases: no credential was found; set ANTHROPIC_API_KEY, or "
            "start claude once and sign in, or write a blank case: plugin-eval new --bare NAME"
        )


def _check_trust(root: Path) -> None:
    """Raise `EvalError` where a try would be refused: nobody can be asked."""
    from pytest_plugin_eval.storage.trust import trust_file, untrusted

    for missing in untrusted([root], trust_file(os.environ)):
        raise EvalError(
            f"{missing} is not a trusted plugin directory, and its hooks, servers and scripts would"
            " run as you when the cases are tried; pass --trust-plugin, or --no-try"
        )


def _asking(options: NewOptions, ledger: Ledger) -> Asking:
    from pytest_plugin_eval.execution.judging import find_judge
    from pytest_plugin_eval.quality.asking import Asking
    from pytest_plugin_eval.spending.limiter import Limiter

    limiter = Limiter()
    return Asking(
        partial(
            find_judge,
            env=os.environ,
            agent_path=None,
            run_root=None,
            slow_down=limiter.slow_down,
            needed_by="proposals",
        ),
        ledger=ledger,
        limiter=limiter,
        env=os.environ,
        model=options.run.model,
    )
