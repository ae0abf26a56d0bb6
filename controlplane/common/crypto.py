"""Secrets at rest: Fernet tokens under the deployment's key, shared with the host agents."""

import json
import secrets
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

PASSWORD_BYTES = 24


class SecretUnreadableError(Exception):
    """A stored token was not written with the key this process has."""


def seal(values: dict[str, Any]) -> str:
    """`values` as one Fernet token."""
    return _fernet().encrypt(json.dumps(values, sort_keys=True).encode()).decode()


def unseal(token: str) -> dict[str, Any]:
    try:
        opened: dict[str, Any] = json.loads(_fernet().decrypt(token.encode()))
    except InvalidToken as error:
        raise SecretUnreadableError("the token was sealed with another key") from error
    return opened


def new_password() -> str:
    return secrets.token_urlsafe(PASSWORD_BYTES)


def _fernet() -> Fernet:
    return Fernet(settings.FERNET_KEY.encode())
