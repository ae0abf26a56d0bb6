"""`python -m dataplane install-version`: puts a release beside the others on a host, whole or not.

What is copied is what a release consists of, from a checkout or an unpacked archive, with modes
that let nobody else write it; the directory gets its name when everything is there.
"""

from __future__ import annotations

import compileall
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.agent.versions import NAME, OWN, OWN_ROOT, PACKAGES, VersionError, read_release

if TYPE_CHECKING:
    import argparse

    from dataplane.agent.versions import Release

EXIT_FAILED, EXIT_BAD_ARGUMENTS = 1, 2
DIRECTORY_MODE, FILE_MODE = 0o755, 0o644


def main(options: argparse.Namespace) -> int:
    """Exit code 0, 1 (failed) or 2 (what was given cannot be installed)."""
    source = Path(options.source) if options.source else OWN_ROOT
    try:
        release = install(source, Path(options.versions), options.name)
    except VersionError as error:
        sys.stderr.write(f"penstock install-version: {error}\n")
        return EXIT_BAD_ARGUMENTS
    except OSError as error:
        sys.stderr.write(f"penstock install-version: {error}\n")
        return EXIT_FAILED
    said = release.software or "a release before there were names"
    sys.stdout.write(
        f"{release.name}: {said}, speaks {release.oldest} to {release.newest},"
        f" sha256 {release.digest}\n"
    )
    return 0


def install(source: Path, versions: Path, name: str) -> Release:
    """Copy the release of a source tree into `versions` under a name. Blocking.

    Raises:
        VersionError: the name is none or taken, or there is no release.
        OSError: it cannot be written.
    """
    if not NAME.fullmatch(name) or name == OWN:
        raise VersionError(f"{name!r} cannot be the name of a version")
    target = versions / name
    if target.exists():
        raise VersionError(f"version {name} is there already; another release needs another name")
    missing = [each for each in PACKAGES if not (source / each).is_dir()]
    if missing:
        raise VersionError(f"{source} holds no {missing[0]}/")
    versions.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    # Agents pass by what begins with a dot.
    unfinished = Path(tempfile.mkdtemp(prefix=".installing-", dir=versions))
    try:
        for package in PACKAGES:
            shutil.copytree(
                source / package,
                unfinished / package,
                ignore=shutil.ignore_patterns("__pycache__", "*.pyc"),
            )
        # Once by us: an agent that may not write there could never keep what it compiles.
        compileall.compile_dir(unfinished, quiet=2)
        _close(unfinished)
        release = read_release(unfinished)
        unfinished.rename(target)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return release.at(target)


def _close(root: Path) -> None:
    root.chmod(DIRECTORY_MODE)
    for path in root.rglob("*"):
        if not path.is_symlink():
            path.chmod(DIRECTORY_MODE if path.is_dir() else FILE_MODE)
