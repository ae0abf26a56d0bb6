"""Opens what the control plane has sealed for this host's brokers."""

from __future__ import annotations

import json
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken


class SecretError(Exception):
    """The key file or a sealed secret cannot be used; the message holds no secret."""


class Unsealer:
    """Opens Fernet tokens with the key of `key_file`. Raises SecretError."""

    def __init__(self, key_file: Path) -> None:
        try:
            self._fernet = Fernet(key_file.read_bytes().strip())
        except OSError as error:
            raise SecretError(f"cannot read the key file {key_file}: {error.strerror}") from error
        except ValueError as error:
            raise SecretError(f"{key_file} does not hold a Fernet key") from error

    def __call__(self, token: str) -> dict[str, str]:
        """The sealed settings; none for an empty token."""
        if not token:
            return {}
        try:
            opened = json.loads(self._fernet.decrypt(token.encode()))
            return {str(key): str(value) for key, value in opened.items()}
        except (InvalidToken, ValueError, AttributeError) as error:
            raise SecretError("the broker's secret was sealed with another key") from error
