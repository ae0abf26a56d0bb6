"""The directories that a host has for its brokers' logs, one a disk, each under a name.

`main` is the agent's data directory. Every further one has a name that operators give it, and an
id of its own, written once: another disk at the same place, or none, is not the one that was
registered, and brokers are told that it is broken rather than given an empty directory for the one
that they had.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.agent.incarnation import IncarnationError, write_whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

MAIN = "main"
EXTRA_MAX = 15
"""Directories of a host beside `main`."""
FILE = ".data-dir.json"
REGISTRY = ".data-dirs.json"
FORMAT = 1
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_ID = re.compile(r"[A-Za-z0-9-]{1,64}")


class DataDirError(ValueError):
    """One line about what is wrong with the directories that were given."""


@dataclasses.dataclass(frozen=True, slots=True)
class DataDir:
    """`problem` says in a sentence why brokers cannot use it; empty when they can."""

    name: str
    path: Path
    directory_id: str = ""
    problem: str = ""


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def extra_from(given: Iterable[str], *, main: Path) -> dict[str, Path]:
    """`NAME=DIR` each. Raises DataDirError."""
    found: dict[str, Path] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (equals and is_name(name) and value.startswith("/")) or "," in value:
            raise DataDirError(
                f"{text[:130]}: expected NAME=DIR, the name of a-z, 0-9 and -, the directory from /"
            )
        if name == MAIN or name in found:
            raise DataDirError(f"{text[:130]}: {name} is another directory's name")
        path = Path(os.path.normpath(value))
        for other in (main, *found.values()):
            if path == other or path in other.parents or other in path.parents:
                raise DataDirError(f"{text[:130]}: one directory must not lie in another, {other}")
        found[name] = path
    if len(found) > EXTRA_MAX:
        raise DataDirError(f"at most {EXTRA_MAX} directories beside {MAIN}")
    return found


class DataDirs:
    """Those of one host, in the order in which they were given, `main` first."""

    def __init__(self, main: Path, extra: Mapping[str, Path] | None = None) -> None:
        self.main = main
        self._extra = dict(extra or {})
        self._host = ""

    @property
    def names(self) -> list[str]:
        return [MAIN, *self._extra]

    def register(
        self, host_directory_id: str, *, renewed: Collection[str] = (), takes_over: bool = False
    ) -> list[DataDir]:
        """Give each its id, and find the ones that are not what they were. Blocking.

        Args:
            host_directory_id: the id of `main` (`incarnation`).
            renewed: names whose disk was replaced for good: what is there now is registered.
            takes_over: also what was another host's is registered (`--replace-host`).

        Raises:
            IncarnationError: a directory belongs to another host.
            OSError: `main` cannot be written to.
        """
        self._host = host_directory_id
        known = self._known()
        for name, path in self._extra.items():
            found = _read(path)
            of, directory_id = found or ("", "")
            if found and of != host_directory_id and not takes_over:
                raise IncarnationError(
                    f"{path} belongs to the host with data directory {of}: give this one its own"
                )
            may_be_new = name not in known or name in renewed
            if found and of == host_directory_id and (may_be_new or known[name] == directory_id):
                known[name] = directory_id
            elif may_be_new or (found and takes_over and of != host_directory_id):
                known[name] = _stamp(path, host_directory_id) or known.get(name, "")
        text = json.dumps({"v": FORMAT, "directories": known})
        write_whole(self.main / REGISTRY, text.encode())
        return self.look()

    def look(self) -> list[DataDir]:
        """As they are at this moment. Blocking; raises nothing."""
        try:
            known = self._known()
        except (OSError, IncarnationError):
            known = {}
        return [
            DataDir(MAIN, self.main, self._host),
            *(_looked_at(name, path, known.get(name, "")) for name, path in self._extra.items()),
        ]

    def _known(self) -> dict[str, str]:
        """The registered ids, by name. Raises IncarnationError, OSError."""
        try:
            found = json.loads((self.main / REGISTRY).read_bytes())["directories"]
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise IncarnationError(
                f"{self.main / REGISTRY} cannot be understood: restore the file"
            ) from error
        return {str(name): str(value) for name, value in found.items()}


def _looked_at(name: str, path: Path, registered: str) -> DataDir:
    try:
        os.scandir(path).close()
    except OSError as error:
        return DataDir(name, path, registered, f"It cannot be read: {error.strerror}.")
    found = _read(path)
    if not registered:
        return DataDir(name, path, "", "It could not be given an id: it cannot be written to.")
    if found is None:
        said = "It holds no id of this host: its disk is not mounted, or is a new one."
        return DataDir(name, path, registered, said)
    if found[1] != registered:
        return DataDir(name, path, registered, "Another disk is there than was registered.")
    return DataDir(name, path, registered)


def _read(path: Path) -> tuple[str, str] | None:
    """(the id of the host's `main`, its own); nothing where there is no such file."""
    try:
        row = json.loads((path / FILE).read_bytes())
        of, directory_id = row["host_directory_id"], row["directory_id"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    both = (of, directory_id)
    return both if all(isinstance(each, str) and _ID.fullmatch(each) for each in both) else None


def _stamp(path: Path, host_directory_id: str) -> str:
    """Its new id; empty where it cannot be written."""
    directory_id = str(uuid.uuid4())
    row = {"v": FORMAT, "host_directory_id": host_directory_id, "directory_id": directory_id}
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_whole(path / FILE, json.dumps(row).encode())
    except OSError:
        return ""
    return directory_id
