"""Machines authenticate by `Authorization: Bearer psk_…`, people by the console's session.

The session checks CSRF on every write (X-CSRFToken); a key has no cookie to forge.
"""

import hashlib
import hmac
from datetime import timedelta

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
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
    found = live_keys().filter(lookup=lookup).first()
    if found is None or not hmac.compare_digest(found.secret_hash, secret_hash(secret)):
        return None
    return found


def live_keys() -> QuerySet[ApiKey]:
    """Those that open anything now."""
    keys = ApiKey.objects.select_related("tenant").exclude(tenant__state=CLOSED)
    has_time = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return keys.filter(has_time, revoked_at=None, service_account__disabled_at=None)


def secret_hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
