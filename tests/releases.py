"""Releases of the broker for tests: this tree, the release before it, and one that is to come.

The release before is this repository's own at a commit that is known, of which `git archive` gives
the tree. A clone without that commit (a shallow one, an unpacked archive) has no history to test
with: then it is this tree under another name and another protocol, and `Before.is_history` is False,
which a test says when it ends.
"""

from __future__ import annotations

import io
import pathlib
import shutil
import subprocess
import tarfile
from typing import NamedTuple

from dataplane.agent.install_version import install
from dataplane.agent.versions import OWN_ROOT, PACKAGES

COMMIT = "48ccf20f80fc64686c7a0695abf41e823f5fd3a3"
"""The last one before releases could run side by side."""
STAND_IN = "0.0.9"


class Before(NamedTuple):
    """The release before, installed as `name`."""

    name: str
    is_history: bool
    protocol: str
    """What its brokers speak at most."""


def install_this(versions: pathlib.Path, name: str) -> None:
    install(OWN_ROOT, versions, name)


def install_before(versions: pathlib.Path, name: str, scratch: pathlib.Path) -> Before:
    """Blocking. `scratch` is a directory that is not there yet."""
    archive = subprocess.run(
        ["git", "-C", str(OWN_ROOT), "archive", COMMIT, *PACKAGES],
        capture_output=True,
        check=False,
    )
    if archive.returncode == 0:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(scratch, filter="data")
        install(scratch, versions, name)
        return Before(name, is_history=True, protocol="3.9-IV0")
    stamp(scratch, VERSION=STAND_IN)
    install(scratch, versions, name)
    return Before(name, is_history=False, protocol="3.9-IV0")


def stamp(scratch: pathlib.Path, **facts: str) -> None:
    """This tree, which says other things of itself: names of `dataplane/config/release.py`.

    Blocking. A release that knows a later protocol is one that says so: brokers of it send what
    the latest stage of the table does, and say that they speak it.
    """
    for package in PACKAGES:
        shutil.copytree(
            OWN_ROOT / package, scratch / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    file = scratch / "dataplane" / "config" / "release.py"
    lines = file.read_text().splitlines()
    for name, value in facts.items():
        (at,) = [number for number, line in enumerate(lines) if line.startswith(f"{name}: ")]
        lines[at] = f'{name}: Final = "{value}"'
    file.write_text("\n".join(lines) + "\n")
