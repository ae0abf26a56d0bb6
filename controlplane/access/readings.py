"""What brokers say of users and rules, as operations on them ask it."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from controlplane.access.decisions.authorizer import (
    SETTING_KEYS,
    AuthorizerSettings,
    settings_of,
)
from controlplane.access.inputs import bindings_of
from controlplane.access.rules import LOGIN_KEYS, LoginSettings
from controlplane.common.problems import NotFound
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import BrokerView, ClusterGateway
from controlplane.gateway.types import AclBinding
from controlplane.operations.details import detail_of


def acls_differing(
    view: BrokerView,
    *,
    present: Sequence[AclBinding] = (),
    absent: Sequence[AclBinding] = (),
) -> str | None:
    """What a broker's rules lack or still have, a detail; None: nothing. No rule, no question."""
    if not present and not absent:
        return None
    have = set(view.list_acls())
    missing = sum(binding not in have for binding in present)
    left = sum(binding in have for binding in absent)
    if missing or left:
        return detail_of("acl/differ", missing=missing, left=left)
    return None


def still_there(gateway: ClusterGateway, rules_added: Iterable[AclBinding]) -> list[AclBinding]:
    have = set(gateway.list_acls())
    return [rule for rule in sorted(rules_added) if rule in have]


def missing_of(gateway: ClusterGateway, rules_removed: Iterable[AclBinding]) -> list[AclBinding]:
    have = set(gateway.list_acls())
    return [rule for rule in sorted(rules_removed) if rule not in have]


def already_there(gateway: ClusterGateway, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of a new user's rules that were there before it: they are not its to remove."""
    return [asdict(rule) for rule in still_there(gateway, bindings_of(rows))] if rows else []


def mechanisms_of(gateway: BrokerView, username: str) -> list[str]:
    return sorted(
        credential.mechanism
        for credential in gateway.list_users()
        if credential.username == username
    )


def existing_mechanisms(gateway: ClusterGateway, username: str) -> list[str]:
    found = mechanisms_of(gateway, username)
    if not found:
        raise NotFound(f"There is no user {username}.")
    return found


def acls_of(gateway: ClusterGateway, username: str) -> list[AclBinding]:
    principal = f"User:{username}"
    return [binding for binding in gateway.list_acls() if binding.principal == principal]


def login_settings(gateway: ClusterGateway) -> tuple[LoginSettings, str]:
    """What brokers say of logins, and why not, when they do not.

    Every setting is asked for: those of one listener have names that nobody knows beforehand. A
    default counts only where nothing else is set.
    """
    try:
        brokers = [node.id for node in gateway.describe_cluster().brokers]
        found = gateway.broker_configs(brokers)
    except GatewayError as error:
        return {}, error.said
    settings: dict[int, dict[str, str | None]] = {}
    for broker, entries in found.items():
        rows = settings.setdefault(broker, {})
        for wanted in LOGIN_KEYS:
            of_key = [e for e in entries if e.name == wanted or e.name.endswith(f".{wanted}")]
            made = [entry for entry in of_key if not entry.is_default]
            rows.update((e.name, None if e.sensitive else e.value) for e in made or of_key)
    return settings, ""


def authorizer_settings(gateway: ClusterGateway) -> tuple[dict[int, AuthorizerSettings], str]:
    """What of each live broker's settings decides beside the rules, and why not, when unknown."""
    try:
        brokers = [node.id for node in gateway.describe_cluster().brokers]
        found = gateway.broker_configs(brokers, SETTING_KEYS)
    except GatewayError as error:
        return {}, str(error)
    return {
        broker: settings_of({e.name: None if e.sensitive else e.value or "" for e in entries})
        for broker, entries in found.items()
    }, ""
