"""Django's sessions in the database, for keys that can be keys (`settings.SESSION_ENGINE`)."""

from typing import Any

from django.contrib.sessions.backends.base import VALID_KEY_CHARS
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore


class SessionStore(DatabaseStore):
    """A cookie may hold anything, a null too, which PostgreSQL does not even look for."""

    def _validate_session_key(self, key: Any) -> bool:
        is_long_enough = bool(super()._validate_session_key(key))  # type: ignore[misc] # no stub
        return is_long_enough and set(key) <= set(VALID_KEY_CHARS)
