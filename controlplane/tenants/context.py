"""AccessContext: which tenant a request acts for, as whom, with which rights."""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from controlplane.audit.services import Actor
from controlplane.common.grants import Area, Scope, Verb
from controlplane.tenants.models import ACTIVE, ApiKey, Tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessContext:
    tenant: Tenant
    actor: Actor
    role: str
    grants: list[dict[str, Any]] = field(default_factory=list)
    is_key: bool = False
    is_staff: bool = False

    @property
    def is_suspended(self) -> bool:
        """Nobody of the tenant changes anything; operators of the platform may clear it up."""
        return self.tenant.state != ACTIVE and not self.may_run_platform

    @property
    def is_limited(self) -> bool:
        return not self.scope.sees_all

    @property
    def scope(self) -> Scope:
        return self.actor.scope

    @property
    def may_write(self) -> bool:
        """Anything at all; what exactly the scope says."""
        return self.scope.may_touch(Verb.WRITE, Area.OPERATION) and not self.is_suspended

    @property
    def may_write_tenant(self) -> bool:
        """What is of no one cluster; grants over clusters, topics or groups do not reach it."""
        return self.scope.allows(Verb.WRITE, Area.TENANT) and not self.is_suspended

    @property
    def may_administer(self) -> bool:
        """Keys and members: owners in person only, so a leaked key cannot mint another."""
        allowed = self.scope.allows(Verb.ADMINISTER, Area.TENANT)
        return allowed and not self.is_key and not self.is_suspended

    @property
    def may_run_platform(self) -> bool:
        """What concerns every tenant at once: platform operators, signed in."""
        return self.is_staff and not self.is_key


def credential_of(request: Any) -> str:
    """By what somebody came in: a key by its id, a session by a digest that opens nothing."""
    key = getattr(request, "auth", None)
    if isinstance(key, ApiKey):
        return f"key/{key.pk}"
    session_key = getattr(getattr(request, "session", None), "session_key", None)
    return f"session/{sha256(session_key.encode()).hexdigest()[:16]}" if session_key else ""


def principal_of(request: Any) -> str:
    """Who it is, whatever session they came in by; only for requests with credentials."""
    key = getattr(request, "auth", None)
    return f"key/{key.pk}" if isinstance(key, ApiKey) else f"user/{request.user.pk}"


def actor_of(
    request: Any, name: str, scope: Scope, renewed: Callable[[], Scope] | None = None
) -> Actor:
    return Actor(
        name=name,
        scope=scope,
        renewed=renewed,
        credential=credential_of(request),
        request_id=str(getattr(request, "request_id", "")),
        remote_address=str(request.META.get("REMOTE_ADDR", "")),
        user_agent=request.headers.get("User-Agent", ""),
    )
