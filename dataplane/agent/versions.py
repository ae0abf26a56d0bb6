"""The releases of the broker that are installed on a host, side by side: a version is a directory.

    <versions>/<name>/dataplane/…           a release as `git archive` gives it
    <versions>/<name>/zookeeper_access/…
    <versions>/<name>/.venv/bin/python      its own interpreter, where it needs other libraries

What stands there is run with the brokers' data and secrets, so a release counts only when nobody
but root and the agent's user can have written any of it. The agent's own software is a version too,
called `agent`: what brokers run that were assigned no other.
"""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import hashlib
import json
import logging
import os
import re
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dataplane.ports.coordinator import CoordinatorError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

log = logging.getLogger(__name__)

FORMAT: Final = 1
OWN: Final = "agent"
"""The name of the agent's own software; no directory may be called so."""
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,62}")
OWN_ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = ("dataplane", "zookeeper_access")
RELEASE_FILE: Final = "dataplane/config/release.py"
INTERPRETER: Final = ".venv/bin/python"
VERSIONS_MAX: Final = 20
FILES_MAX: Final = 20_000
BYTES_MAX: Final = 512 * 1024 * 1024
RELEASE_BYTES_MAX: Final = 16 * 1024
TEXT_MAX: Final = 50
WHY_MAX: Final = 200
EVERY_S: Final = 10.0
BEFORE_RELEASES: Final = ("", "3.9-IV0", "3.9-IV0")
"""What a release says of itself that is older than `release.py`: it sends what the newest of 3.9
does, whatever its setting."""
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_NOT_READ: Final = frozenset({"__pycache__"})


class VersionError(Exception):
    """A version that a host has not, or that may not run there; one line."""


@dataclasses.dataclass(frozen=True, slots=True)
class Release:
    """An installed release.

    Attributes:
        name: its directory's, `agent` for the agent's own software.
        root: what comes first where Python looks for packages.
        software: as the release calls itself; empty for one that is older than such names.
        digest: SHA-256 over names and contents of its packages, in hex.
        oldest, newest: the inter-broker protocols that it speaks.
    """

    name: str
    root: Path
    software: str
    digest: str
    oldest: str
    newest: str

    def at(self, root: Path) -> Release:
        """The same one under another directory."""
        return dataclasses.replace(self, root=root, name=root.name)

    @property
    def command(self) -> tuple[str, ...]:
        """What starts its `python -m dataplane`.

        Without `-P` Python would look into the agent's working directory first.
        """
        if self.name == OWN:
            return sys.executable, "-m", "dataplane"
        own = self.root / INTERPRETER
        return str(own) if own.exists() else sys.executable, "-P", "-m", "dataplane"

    @property
    def environment(self) -> tuple[tuple[str, str], ...]:
        """What is set for it beside the agent's own environment."""
        return () if self.name == OWN else (("PYTHONPATH", str(self.root)),)


class Versions:
    """What is installed below a directory; without one the agent's own software alone."""

    def __init__(self, directory: Path | None = None) -> None:
        """Raises VersionError: others could put releases there."""
        self._directory = directory
        self._known: dict[str, tuple[object, Release]] = {}
        if directory is not None:
            _check_owner(directory, directory.name or str(directory))

    def find(self, name: str) -> Release:
        """The release to start a broker with, looked at whole now. Blocking.

        Raises:
            VersionError: it is not there, or may not run.
        """
        if name == OWN:
            return _own_release()
        if self._directory is None:
            raise VersionError(f"version {name[:TEXT_MAX]!r}: this agent has no --versions")
        if not NAME.fullmatch(name):
            raise VersionError(f"{name[:TEXT_MAX]!r} cannot be the name of a version")
        root = self._directory / name
        if not root.is_dir():
            raise VersionError(f"version {name} is not installed on this host")
        return read_release(root)

    def all(self) -> tuple[list[Release], dict[str, str]]:
        """Every release, the agent's own first, and why other entries are none. Blocking."""
        found, refused = [self._looked_at(OWN_ROOT, OWN)], {}
        for entry in self._entries():
            try:
                if entry.name == OWN or not NAME.fullmatch(entry.name):
                    raise VersionError("this cannot be the name of a version")
                found.append(self._looked_at(entry, entry.name))
            except VersionError as error:
                refused[entry.name[:TEXT_MAX]] = str(error)[:WHY_MAX]
        return found, refused

    def report(self) -> bytes:
        """As it stands in ZooKeeper; bounded. Blocking."""
        found, refused = self.all()
        rows = [
            {
                "name": each.name,
                "software": each.software,
                "digest": each.digest,
                "oldest": each.oldest,
                "newest": each.newest,
            }
            for each in found
        ]
        return json.dumps({"v": FORMAT, "versions": rows, "refused": refused}).encode()

    def _entries(self) -> list[Path]:
        if self._directory is None:
            return []
        try:
            found = sorted(self._directory.iterdir())
        except OSError as error:
            log.warning("%s cannot be read: %s", self._directory, error)
            return []
        # What is being installed has a name that begins with a dot.
        return [path for path in found if not path.name.startswith(".")][:VERSIONS_MAX]

    def _looked_at(self, root: Path, name: str) -> Release:
        """By what its directory was when it was last read whole: that takes a while."""
        seal = _seal(root)
        known = self._known.get(name)
        if known is None or known[0] != seal:
            release = _own_release() if name == OWN else read_release(root)
            known = self._known[name] = (seal, release)
        return known[1]


def _own_release() -> Release:
    """The agent's own software as its files are now, which is what a broker would run. Blocking."""
    software, oldest, newest = release_facts(OWN_ROOT)
    digest = digest_of(OWN_ROOT, is_checked=False)
    return Release(OWN, OWN_ROOT, software, digest, oldest, newest)


def read_release(root: Path) -> Release:
    """A release as it stands in a directory. Blocking.

    Raises:
        VersionError: it is none, or somebody else could have written it.
    """
    name = root.name
    _check_owner(root, name)
    if not (root / "dataplane" / "__main__.py").is_file():
        raise VersionError(f"version {name} holds no dataplane/__main__.py")
    software, oldest, newest = release_facts(root)
    digest = digest_of(root, is_checked=True)
    if (interpreter := root / INTERPRETER).exists():
        for path in (root / ".venv", interpreter.parent):
            _check_owner(path, f"{name}/{path.relative_to(root)}")
    return Release(name, root, software, digest, oldest, newest)


def release_facts(root: Path) -> tuple[str, str, str]:
    """(software, oldest, newest) as the release says, which is not run for that. Blocking.

    Raises:
        VersionError: what it says cannot be understood.
    """
    path = root / RELEASE_FILE
    try:
        if path.stat().st_size > RELEASE_BYTES_MAX:
            raise VersionError(f"{RELEASE_FILE} of {root.name} is too long")
        tree = ast.parse(path.read_text())
    except FileNotFoundError:
        return BEFORE_RELEASES
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise VersionError(f"{RELEASE_FILE} of {root.name} cannot be read") from error
    said = dict(_texts(tree))
    try:
        found = said["VERSION"], said["OLDEST_PROTOCOL"], said["NEWEST_PROTOCOL"]
    except KeyError as error:
        raise VersionError(f"{RELEASE_FILE} of {root.name} has no {error.args[0]}") from error
    software, oldest, newest = (text[:TEXT_MAX] for text in found)
    return software, oldest, newest


def _texts(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """`NAME = "text"` and `NAME: … = "text"`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        else:
            continue
        if (
            isinstance(target, ast.Name)
            and isinstance(value, ast.Constant)
            and isinstance(value.value, str)
        ):
            yield target.id, value.value


def digest_of(root: Path, *, is_checked: bool) -> str:
    """SHA-256 in hex over names and contents of a release's packages. Blocking.

    Raises:
        VersionError: it is too large, a file cannot be read, and, where that is checked, it holds a
            link or what others may write.
    """
    whole = hashlib.sha256()
    count = size = 0
    try:
        for path in _files(root, is_checked=is_checked):
            content = path.read_bytes()
            count, size = count + 1, size + len(content)
            if count > FILES_MAX or size > BYTES_MAX:
                raise VersionError(f"version {root.name} is too large")
            whole.update(f"{path.relative_to(root)}\0{len(content)}\0".encode())
            whole.update(content)
    except OSError as error:
        raise VersionError(f"version {root.name} cannot be read: {error.strerror}") from error
    return whole.hexdigest()


def _files(root: Path, *, is_checked: bool) -> Iterator[Path]:
    """In the same order everywhere; compiled files are no part of a release."""
    pending = [root / package for package in reversed(PACKAGES)]
    while pending:
        path = pending.pop()
        if not path.exists():
            continue
        if is_checked:
            _check_owner(path, f"{root.name}/{path.relative_to(root)}")
        if path.is_dir():
            below = sorted(path.iterdir(), key=lambda each: each.name, reverse=True)
            pending += [each for each in below if each.name not in _NOT_READ]
        elif path.suffix != ".pyc":
            yield path


def _check_owner(path: Path, shown: str) -> None:
    """Raises VersionError: it is a link, another's, or others may write it."""
    try:
        found = path.lstat()
    except OSError as error:
        raise VersionError(f"{shown}: {error.strerror}") from error
    if stat.S_ISLNK(found.st_mode):
        raise VersionError(f"{shown} is a link")
    if found.st_uid not in (0, os.geteuid()):
        raise VersionError(f"{shown} belongs to another user than root and the agent's")
    if found.st_mode & _WRITABLE_BY_OTHERS:
        raise VersionError(f"{shown} may be written by others: chmod go-w")


def _seal(root: Path) -> object:
    """Changes when the release is installed anew; what is edited in place is seen at the start."""
    places = (root, root / "dataplane", root / RELEASE_FILE, root / INTERPRETER)
    return tuple(_mark(path) for path in places)


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_mode


class VersionReports:
    """Writes which releases are there, at once and whenever that has changed, until closed."""

    def __init__(
        self,
        read: Callable[[], bytes],
        write: Callable[[bytes], Awaitable[None]],
        *,
        on_change: Callable[[], None],
        every_s: float = EVERY_S,
    ) -> None:
        """`on_change` runs on the loop when something else is there than at the last look."""
        self._read = read
        self._write = write
        self._on_change = on_change
        self._every_s = every_s
        self._written = self._seen = b""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="versions")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            try:
                await self._look()
            except CoordinatorError as error:
                log.info("the host's versions could not be written: %s", error)
            except (VersionError, OSError) as error:
                log.warning("the host's versions could not be read: %s", error)
            await asyncio.sleep(self._every_s)

    async def _look(self) -> None:
        found = await asyncio.to_thread(self._read)
        if found != self._seen:
            is_first, self._seen = not self._seen, found
            if not is_first:
                self._on_change()
        if found != self._written:
            await self._write(found)
            self._written = found
