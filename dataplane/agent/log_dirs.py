"""Which directories one broker has its logs in, of those of its host.

The control plane names them. Three things are settled here, between two processes of the broker:

- One that holds replicas is never left out because it is no longer named: what was put there since
  the plan would be begun anew from nothing. It stays in `log.dirs`, and the report says so.
- One that was given up (its disk failed, its replicas are made elsewhere) is left out whatever it
  holds. If it comes back, what it holds is removed before it is used again.
- One that is not the directory that the broker had under that name is offline: the broker gets a
  path that nobody can make, so that its replicas are in error there and not begun on another disk.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import time
from typing import TYPE_CHECKING

from dataplane.agent.data_dirs import MAIN

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from dataplane.agent.data_dirs import DataDir, DataDirs

NOTE_FILE = "log-dirs.json"
OFFLINE_FILE = "offline"
"""A plain file: no directory can be made below it."""
DATA = "data"
FORMAT = 1
_DELETED, _FUTURE, _STRAY = "-delete", "-future", "-stray"
"""How names of directories end that a broker gave up, has not finished, or has put aside."""


class LogDirError(Exception):
    """One line: the broker cannot have the directories that are wanted. It reaches the broker's
    tenant: directories are called by their names, and no path is in it.
    """


@dataclasses.dataclass(frozen=True, slots=True)
class LogDir:
    """One entry of `log.dirs`. `problem` is a sentence: why it is offline, or why still there."""

    name: str
    path: Path
    problem: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class _Note:
    """What the broker had: the ids of its directories by name, and the names of those given up."""

    used: dict[str, str]
    given_up: list[str]


class LogDirs:
    """Of one broker; its own files are in `home`, which is below `main`."""

    def __init__(self, key: str, home: Path, host: DataDirs) -> None:
        self._key = key
        self._home = home
        self._host = host

    def check(self, wanted: Sequence[str]) -> None:
        """Whether the host can give the broker what it did not have yet. Blocking.

        Raises:
            LogDirError: it has no such directory, or its disk is away or another one.
        """
        there = {each.name: each for each in self._host.look()}
        note = self._read()
        for name in wanted:
            if name not in there:
                raise LogDirError(f"the host has no data directory {name}")
            is_new = name not in note.used or name in note.given_up
            if is_new and there[name].problem:
                raise LogDirError(f"data directory {name}: {there[name].problem}")

    def settle(self, wanted: Sequence[str], given_up: Collection[str]) -> list[LogDir]:
        """Make the directories what is wanted, and say what `log.dirs` shall be. Blocking.

        Only while no process of the broker runs. It may run again after a crash at any point.

        Raises:
            LogDirError: the host has no such directory, or what is there cannot be put aside.
            OSError: `home` cannot be written to.
        """
        self.check(wanted)
        there = {each.name: each for each in self._host.look()}
        note = self._read()
        gone = set(given_up) - set(wanted)
        note = _Note(note.used, sorted({*note.given_up, *gone}))
        # Before anything is removed: what is given up is never used again as it was.
        self._write(note)
        found = [LogDir(MAIN, self._home / DATA)]
        for name, directory in there.items():
            if name == MAIN:
                continue
            settled = self._settled(directory, note, is_wanted=name in wanted)
            if settled is not None:
                found.append(settled)
        self._write(note)
        return found

    def now(self) -> list[LogDir]:
        """Of a process that an earlier agent started: what it was given. Blocking."""
        there = {each.name: each for each in self._host.look()}
        used = self._read().used
        return [
            LogDir(MAIN, self._home / DATA),
            *(
                self._entry(there[name], used[name])
                for name in there
                if name in used and name != MAIN
            ),
        ]

    def remove(self) -> None:
        """Everything of the broker outside its `home`. Blocking. OSError."""
        for each in self._host.look():
            if each.name != MAIN and not each.problem and self._place(each).is_dir():
                shutil.rmtree(self._place(each))

    # -- one directory
    def _settled(self, directory: DataDir, note: _Note, *, is_wanted: bool) -> LogDir | None:
        name, place = directory.name, self._place(directory)
        if name in note.given_up and not directory.problem:
            # Its replicas were made anew elsewhere.
            _remove(place, name)
            note.given_up.remove(name)
            note.used.pop(name, None)
        if name in note.given_up:
            if is_wanted:
                raise LogDirError(f"data directory {name}: {directory.problem}")
            note.used.pop(name, None)
            return None
        had = note.used.get(name)
        if not is_wanted:
            if had is None:
                return None
            if directory.problem or had != directory.directory_id or _holds_replicas(place):
                entry = self._entry(directory, had)
                said = entry.problem or "It still holds replicas, so it was not taken away."
                return dataclasses.replace(entry, problem=said)
            (_set_aside if _has_strays(place) else _remove)(place, name)
            del note.used[name]
            return None
        if had is None:
            if directory.problem:
                raise LogDirError(f"data directory {name}: {directory.problem}")
            _set_aside(place, name)
            note.used[name] = had = directory.directory_id
        return self._entry(directory, had)

    def _entry(self, directory: DataDir, had: str) -> LogDir:
        problem = directory.problem
        if not problem and had != directory.directory_id:
            problem = "Another disk is there than the broker had."
        if problem:
            (self._home / OFFLINE_FILE).touch()
            return LogDir(directory.name, self._home / OFFLINE_FILE / directory.name, problem)
        return LogDir(directory.name, self._place(directory) / DATA)

    def _place(self, directory: DataDir) -> Path:
        return directory.path / self._key

    # -- what is kept
    def _read(self) -> _Note:
        """Raises LogDirError: without it nobody knows which disk is the one that the broker had."""
        path = self._home / NOTE_FILE
        try:
            row = json.loads(path.read_bytes())
            used = {str(name): str(value) for name, value in row["used"].items()}
            return _Note(used, [str(name) for name in row["given_up"]])
        except FileNotFoundError:
            return _Note({}, [])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise LogDirError(
                f"data directory {MAIN}: the broker's {NOTE_FILE} cannot be understood: restore the"
                " file"
            ) from error

    def _write(self, note: _Note) -> None:
        if not note.used and not note.given_up:
            (self._home / NOTE_FILE).unlink(missing_ok=True)
            return
        temporary = self._home / f"{NOTE_FILE}.tmp"
        temporary.write_text(json.dumps({"v": FORMAT, **dataclasses.asdict(note)}))
        temporary.replace(self._home / NOTE_FILE)


def _holds_replicas(place: Path) -> bool:
    """Whether it has logs that are not being deleted; what cannot be read may have some."""
    try:
        names = [each.name for each in (place / DATA).iterdir() if each.is_dir()]
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return not all(name.endswith((_DELETED, _FUTURE, _STRAY)) for name in names)


def _has_strays(place: Path) -> bool:
    try:
        return any(each.name.endswith(_STRAY) for each in (place / DATA).iterdir())
    except FileNotFoundError:
        return False


def _remove(place: Path, name: str) -> None:
    """Raises LogDirError."""
    try:
        shutil.rmtree(place)
    except FileNotFoundError:
        return
    except OSError as error:
        why = f"what the broker has there cannot be removed: {error.strerror}"
        raise LogDirError(f"data directory {name}: {why}") from error


def _set_aside(place: Path, name: str) -> None:
    """What nobody knows anything of is kept, under a name that no broker has."""
    if not place.exists():
        return
    try:
        place.rename(place.with_name(f".aside-{place.name}-{time.time_ns()}"))
    except OSError as error:
        why = f"what is there already cannot be put aside: {error.strerror}"
        raise LogDirError(f"data directory {name}: {why}") from error
