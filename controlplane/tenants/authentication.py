"""Machines authenticate by `Authorization: Bearer psk_…`, people by the console's session.

The session checks CSRF on every write (X-CSRFToken); a key has no cookie to forge.
"""

import hashlib
import hmac
from datetime import timedelta

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from controlplane.tenants.models import CLOSED, ApiKey

PREFIX = "psk_"
LAST_USED_GRAIN = timedelta(minutes=1)


class KeyUser(AnonymousUser):
    """Who a request with an API key is: nobody in person, but authenticated."""

    def __init__(self, key: ApiKey) -> None:
        super().__init__()
        self.key = key

    @property
    def is_authenticated(self) -> bool:  # type: ignore[override] # the stub says Literal[False]
        return True


class ApiKeyAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[KeyUser, ApiKey] | None:
        header = request.headers.get("Authorization", "")
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        key = find_key(token.strip())
        if key is None:
            raise AuthenticationFailed("The API key is not known, has expired, or was revoked.")
        now = timezone.now()
        if key.last_used_at is None or now - key.last_used_at >= LAST_USED_GRAIN:
            # Of requests beside each other one writes.
            seen = ApiKey.objects.filter(pk=key.pk, last_used_at=key.last_used_at)
            seen.update(last_used_at=now)
        return KeyUser(key), key

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - DRF's hook
        return "Bearer"


class ConsoleSessionAuthentication(SessionAuthentication):
    """Django's session with CSRF enforced, as DRF does it."""


def find_key(token: str) -> ApiKey | None:
    """The live key that `token` opens; comparison in constant time."""
    if not token.startswith(PREFIX) or not token.isascii() or not token.isprintable():
        return None
    lookup, _, secret = token[len(PREFIX) :].partition("_")
    keys = ApiKey.objects.select_related("tenant").exclude(tenant__state=CLOSED)
    found = keys.filter(lookup=lookup, revoked_at=None, service_account__disabled_at=None).first()
    if found is None or not hmac.compare_digest(found.secret_hash, secret_hash(secret)):
        return None
    has_expired = found.expires_at is not None and found.expires_at <= timezone.now()
    return None if has_expired else found


def secret_hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
