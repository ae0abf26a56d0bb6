"""Several Fernet keys: the first seals, all open."""

import enum
from collections.abc import Callable, Sequence
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from controlplane.common.keyfiles import keys_in_file


class SecretUnreadableError(Exception):
    """A stored token was written with none of the keys that this process has."""


class KeysUnusableError(Exception):
    """There are no keys, or what stands in their place is none; the message holds no key."""


class KeyUse(enum.Enum):
    """Under which key a value stands."""

    CURRENT = "current"
    OLD = "old"
    UNREADABLE = "unreadable"


class Keyring:
    """`keys` are url-safe base64 of 32 bytes each. Raises KeysUnusableError."""

    def __init__(self, keys: Sequence[str]) -> None:
        try:
            self._fernets = [Fernet(key) for key in keys]
            self._all = MultiFernet(self._fernets)
        except ValueError as error:
            raise KeysUnusableError("a key is not 32 bytes in url-safe base64, or none is") from (
                error
            )

    def seal(self, data: bytes) -> str:
        return self._all.encrypt(data).decode()

    def unseal(self, token: str) -> bytes:
        """Raises SecretUnreadableError."""
        try:
            return self._all.decrypt(token.encode())
        except InvalidToken as error:
            raise SecretUnreadableError("the token was sealed with another key") from error

    def reseal(self, token: str) -> str:
        """The same secret under the first key. Raises SecretUnreadableError."""
        try:
            return self._all.rotate(token.encode()).decode()
        except InvalidToken as error:
            raise SecretUnreadableError("the token was sealed with another key") from error

    def use_of(self, token: str) -> KeyUse:
        for index, fernet in enumerate(self._fernets):
            try:
                fernet.decrypt(token.encode())
            except InvalidToken:
                continue
            return KeyUse.OLD if index else KeyUse.CURRENT
        return KeyUse.UNREADABLE


def followed(path: Path) -> Callable[[], Keyring]:
    """Gives the keys of `path` as they are now: a running process need not start again for one.

    What it gives raises KeysUnusableError.
    """
    known: tuple[tuple[int, int, int], Keyring] | None = None

    def current() -> Keyring:
        nonlocal known
        try:
            found = path.stat()
            mark = (found.st_mtime_ns, found.st_ino, found.st_size)
            if known is None or known[0] != mark:
                known = mark, Keyring(keys_in_file(path))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it holds no key"
            raise KeysUnusableError(f"the keys in {path} cannot be used: {why}") from error
        return known[1]

    return current
