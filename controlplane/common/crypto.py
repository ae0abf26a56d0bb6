"""Secrets at rest: Fernet tokens under the deployment's keys."""

import functools
import json
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings

from controlplane.common.keyring import Keyring, followed

PASSWORD_BYTES = 24
TOKEN_BEGINS = "gAAAAA"  # noqa: S105 - Fernet's version byte and the first bytes of any time to 2106


def seal(values: dict[str, Any]) -> str:
    """`values` as one Fernet token."""
    return keyring().seal(json.dumps(values, sort_keys=True).encode())


def unseal(token: str) -> dict[str, Any]:
    """Raises SecretUnreadableError."""
    opened: dict[str, Any] = json.loads(keyring().unseal(token))
    return opened


def new_password() -> str:
    return secrets.token_urlsafe(PASSWORD_BYTES)


def keyring() -> Keyring:
    """The deployment's keys. Raises KeysUnusableError."""
    if settings.FERNET_KEYS:
        return _of_setting(tuple(settings.FERNET_KEYS))
    return _of_file(settings.FERNET_KEY_FILE)()


@functools.lru_cache(maxsize=4)
def _of_setting(keys: tuple[str, ...]) -> Keyring:
    return Keyring(keys)


_of_file = functools.lru_cache(maxsize=4)(followed)


def key_file() -> Path | None:
    """Where the keys stand; None when they come from the environment."""
    return None if settings.FERNET_KEYS else Path(settings.FERNET_KEY_FILE)
