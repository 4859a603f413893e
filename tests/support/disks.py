"""Disks with little room, and what runs on them in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest


def small_disk_command(place: Path, size: str, command: Sequence[str]) -> list[str]:
    """Return a command that runs *command* with a disk of *size* (``1m``) mounted on *place*.

    Nobody else sees the disk, and it goes with the process. Skips the test where the system lets
    nobody mount one.
    """
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    inside = ["unshare", "--mount", *user, "sh", "-ec"]
    mount = 'mount -t tmpfs -o "size=$1" tmpfs "$2"; shift 2; exec "$@"'
    prefix = (*inside, mount, "sh", size, str(place))
    if not _can_mount((*inside, mount, "sh", "64k", "/mnt", "true")):
        pytest.skip("this system lets nobody mount a small disk")
    return [*prefix, *command]


@cache
def _can_mount(command: tuple[str, ...]) -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(command, capture_output=True, check=False, timeout=60)
    return tried.returncode == 0
