"""What somebody may by now: asked again by whatever goes on after its request was let in.

A page of messages reads for half a minute, a file leaves for as long as its reader likes, a live
stream is open for minutes. What they were let in by may be gone by then: a key revoked, a session
ended, a role taken away. So they ask here again, and say so when they end.
"""

import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import DatabaseError
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from controlplane.audit.services import Actor
from controlplane.common.grants import OWNER, Scope, scope_of
from controlplane.common.problems import Problem, Unavailable
from controlplane.tenants.authentication import live_keys
from controlplane.tenants.models import CLOSED, KEY_ROLES, ApiKey, Membership

ASK_AGAIN_S = 2.0
"""So often whatever goes on asks whether it may."""


class AccessEnded(Problem):
    status, code, title = 401, "access-ended", "What let you in has ended meanwhile"


class SignedIn(NamedTuple):
    """By which session of whom, for which tenant."""

    session_key: str
    user_id: int
    tenant_id: str


def scopes_now(asked: Collection[SignedIn]) -> dict[SignedIn, Scope]:
    """Of those that still are signed in and members; three statements, whatever their number."""
    user_ids = {each.user_id for each in asked}
    sessions = {
        row.session_key: row.get_decoded()
        for row in Session.objects.filter(
            pk__in={each.session_key for each in asked}, expire_date__gt=timezone.now()
        )
    }
    users = {user.pk: user for user in User.objects.filter(pk__in=user_ids, is_active=True)}
    memberships = Membership.objects.filter(user__in=user_ids).exclude(tenant__state=CLOSED)
    members = {(row.user_id, row.tenant_id): scope_of(row.role, row.grants) for row in memberships}

    def scope(each: SignedIn) -> Scope | None:
        session, user = sessions.get(each.session_key), users.get(each.user_id)
        if session is None or user is None or session.get(SESSION_KEY) != str(user.pk):
            return None
        # Another password ends the sessions of the old one.
        if not constant_time_compare(
            session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()
        ):
            return None
        found = members.get((each.user_id, each.tenant_id))
        return scope_of(OWNER, []) if found is None and user.is_staff else found

    found = {each: scope(each) for each in asked}
    return {each: now for each, now in found.items() if now is not None}


def session_scope_now(signed_in: SignedIn) -> Scope:
    """Raises AccessEnded, and DatabaseError: nobody can say."""
    found = scopes_now([signed_in]).get(signed_in)
    if found is None:
        raise AccessEnded("You were signed out, or are no member of the tenant any more.")
    return found


def live_key(key_id: str) -> ApiKey:
    """Raises AccessEnded, and DatabaseError: nobody can say."""
    key = live_keys().filter(pk=key_id).first()
    if key is None or key.scope not in KEY_ROLES:
        raise AccessEnded("The API key has expired or was revoked.")
    return key


@dataclass(slots=True)
class Watch:
    """Asks every `ASK_AGAIN_S` whether an actor may still do all that they might at first."""

    actor: Actor
    asked_s: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Nothing while it is not time to ask.

        Raises:
            Problem: the actor may not go on: nothing any more, something else, or nobody can say.
        """
        if time.monotonic() - self.asked_s < ASK_AGAIN_S:
            return
        try:
            now = self.actor.scope_now()
        except DatabaseError as error:
            raise Unavailable("Whether you may go on cannot be looked up.") from error
        if now.mark != self.actor.scope.mark:
            raise AccessEnded("What you may see has changed meanwhile; ask again.")
        self.asked_s = time.monotonic()
