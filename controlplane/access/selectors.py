"""Reads: users and ACLs from the observed tables."""

from typing import Any

from controlplane.clusters.specs import ADMIN_USER, BROKER_USER
from controlplane.observed.models import ObservedRow
from controlplane.observed.selectors import Section, shown

SERVICE_USERS = frozenset({ADMIN_USER, BROKER_USER})


def user_row(row: ObservedRow, at: Section) -> dict[str, Any]:
    """A row of the list; `managed` marks those that the service itself needs."""
    found = shown(row, at)
    return {**found, "managed": found["username"] in SERVICE_USERS}


def acl_row(row: ObservedRow, at: Section) -> dict[str, Any]:
    return shown(row, at)
