"""The file that says how a process logs in to ZooKeeper: `key=value` lines, for its user alone."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from zookeeper_access import keys
from zookeeper_access.settings import AccessError

BYTES_MAX: Final = 65_536


def read(path: Path) -> dict[str, str]:
    """The settings of a file, by key. `#` begins a comment line; there are no escapes.

    Raises AccessError for a file that is not there, that everybody may read, or that holds another
    key than those of `keys`.
    """
    try:
        with path.open(encoding="utf-8") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read(BYTES_MAX + 1)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise AccessError(str(path), f"cannot be read: {why}") from error
    if mode & stat.S_IRWXO:
        raise AccessError(str(path), f"everybody may use it (mode {mode:04o}); make it 0600")
    if len(text) > BYTES_MAX:
        raise AccessError(str(path), f"is longer than {BYTES_MAX} bytes")
    return _parse(path, text)


def read_login(path: Path) -> dict[str, str]:
    """As `read`, of a file by which a process makes nodes: it says whether these are closed.

    `write` puts that key last, so that a file that was cut short, or is empty, does not leave open
    what its whole would close. Raises AccessError.
    """
    found = read(path)
    if keys.SET_ACL not in found:
        raise AccessError(str(path), f"does not say {keys.SET_ACL}; is it whole?")
    return found


def _parse(path: Path, text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        key, separator, value = stripped.partition("=")
        key = key.strip()
        # What stands there may be a password that somebody mistyped: the line is not shown.
        if not separator or key not in keys.ALL:
            raise AccessError(f"{path}, line {number}", "expected KEY=VALUE with a known key")
        if key in found:
            raise AccessError(f"{path}, line {number}", f"{key} is there twice")
        found[key] = value.strip()
    return found


def write(path: Path, settings: Mapping[str, str]) -> None:
    """Replace the file; it is readable by this user alone from its first byte. Raises OSError.

    A machine that fails meanwhile leaves the old file or the whole new one.
    """
    in_order = sorted(settings.items(), key=lambda pair: (pair[0] == keys.SET_ACL, pair[0]))
    temporary = path.with_name(f"{path.name}.tmp")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("".join(f"{key}={value}\n" for key, value in in_order))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
