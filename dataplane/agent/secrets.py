"""Opens what the control plane has sealed for this host's brokers."""

from __future__ import annotations

import json
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet


class SecretError(Exception):
    """The key file or a sealed secret cannot be used; the message holds no secret."""


class Unsealer:
    """Opens Fernet tokens with the keys of `key_file`, one a line, as they are now.

    A key that is added while the agent runs opens what is sealed with it. Raises SecretError.
    """

    def __init__(self, key_file: Path) -> None:
        self._file = key_file
        self._mark: tuple[int, int, int] | None = None
        self._keys = MultiFernet([Fernet(Fernet.generate_key())])
        self._follow()

    def __call__(self, token: str) -> dict[str, str]:
        """The sealed settings; none for an empty token."""
        if not token:
            return {}
        self._follow()
        try:
            opened = json.loads(self._keys.decrypt(token.encode()))
            return {str(key): str(value) for key, value in opened.items()}
        except (InvalidToken, ValueError, AttributeError, RecursionError) as error:
            raise SecretError("the broker's secret was sealed with another key") from error

    def _follow(self) -> None:
        try:
            found = self._file.stat()
            mark = (found.st_mtime_ns, found.st_ino, found.st_size)
            if mark == self._mark:
                return
            keys = [line.strip() for line in self._file.read_bytes().split(b"\n")]
            self._keys = MultiFernet([Fernet(key) for key in keys if key])
        except OSError as error:
            raise SecretError(f"cannot read the key file {self._file}: {error.strerror}") from error
        except ValueError as error:
            raise SecretError(f"{self._file} does not hold a Fernet key") from error
        self._mark = mark
