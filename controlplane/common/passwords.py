"""Hashing passwords: on purpose it costs 100 MB and a tenth of a second, so only so many at a time.

Whoever has no login may have passwords hashed too, by trying to sign in. Without a bound a hundred
attempts beside each other take ten gigabytes.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher

from controlplane.common.metrics import PASSWORDS_REFUSED
from controlplane.common.problems import Unavailable
from controlplane.common.slots import Slots

WAIT_S = 3.0
"""How long an attempt waits for its turn."""
SLOTS = Slots()


class BoundedArgon2PasswordHasher(Argon2PasswordHasher):
    """Django's, with at most `settings.PASSWORD_HASHES_AT_A_TIME` at work in this process.

    Raises:
        Unavailable: there was no turn in time; the same request may succeed later.
    """

    def encode(self, password: str, salt: str) -> str:
        with _turn():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _turn():
            return super().verify(password, encoded)


@contextmanager
def _turn() -> Iterator[None]:
    bounds = {"hashes": settings.PASSWORD_HASHES_AT_A_TIME}
    if not SLOTS.take(bounds, wait_s=WAIT_S):
        PASSWORDS_REFUSED.inc()
        raise Unavailable("Too many passwords are being checked.", code="too-busy")
    try:
        yield
    finally:
        SLOTS.give_back(bounds)
