"""Keys that live in a file of the data directory, readable by the owner only; one a line."""

import base64
import contextlib
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

KEY_BYTES = 32
WAITING = "+"
"""Before a key that was added and has not been chosen to seal. No key has it in itself."""


def new_key() -> str:
    """32 random bytes, url-safe base64: what Fernet takes."""
    return base64.urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode()


class KeyMissingError(Exception):
    """There is no such file, and this process must not make one."""


def key_from_file(path: Path, *, make: bool = True) -> str:
    """The first key in `path`; a fresh one when there is no such file.

    Web, worker and beat may start at once: the first to link its file wins, all read that one.

    Args:
        path: one key a line, 0600.
        make: whether a fresh one may be made: on the service's first host alone.

    Raises:
        KeyMissingError: there is no file and none may be made.
    """
    if not path.exists():
        if not make:
            raise KeyMissingError(
                f"{path} is missing: bring the file of the service's first host (every host of the"
                " control plane has the same). PENSTOCK_MAKE_KEYS=true makes one, there alone."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        _write_private(draft, new_key())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass  # another process was first; its key is the one
        finally:
            draft.unlink()
    return keys_in_file(path)[0]


def keys_in_file(path: Path) -> tuple[str, ...]:
    """All that open; the first seals. Raises OSError, and ValueError for a file without one."""
    return tuple(line.removeprefix(WAITING) for line in marked_keys(path))


def marked_keys(path: Path) -> tuple[str, ...]:
    """As `keys_in_file`, those that wait with their mark."""
    found = tuple(line.strip() for line in path.read_text().splitlines() if line.strip())
    if not found:
        raise ValueError(f"{path} holds no key")
    return found


def write_keys(path: Path, keys: Sequence[str]) -> None:
    """Replace the file: a machine that fails meanwhile leaves the old one or the whole new one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        _write_private(draft, "".join(f"{key}\n" for key in keys))
        draft.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()


def _write_private(path: Path, text: str) -> None:
    """For this user alone from its first byte."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
