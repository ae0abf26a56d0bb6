"""What ACLs open, what taking them away costs, and what brokers say of logins. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from controlplane.common.words import counted
from controlplane.gateway.types import EVERY_NAME, AclBinding
from controlplane.operations.risks import Risk
from controlplane.operations.warnings import warning_of

EVERYONE = "User:*"
ALLOW, DENY = "ALLOW", "DENY"
LOOKING = frozenset({"DESCRIBE", "DESCRIBE_CONFIGS", "IDEMPOTENT_WRITE"})
"""Operations that neither show a record nor change anything."""
RULING = frozenset({"ALL", "ALTER", "ALTER_CONFIGS", "CLUSTER_ACTION", "CREATE", "DELETE"})
"""Operations by which what others need can be changed or deleted."""
IMPLIED_BY = {
    "DESCRIBE": frozenset({"READ", "WRITE", "DELETE", "ALTER"}),
    "DESCRIBE_CONFIGS": frozenset({"ALTER_CONFIGS"}),
}
Warnings = list[dict[str, Any]]


def create_warnings(added: Sequence[AclBinding]) -> Warnings:
    found = []
    if any(rule.principal == EVERYONE for rule in added):
        found.append(warning_of("everyone", "danger"))
    opening = [rule for rule in added if opens(rule)]
    if opening:
        found.append(
            warning_of("opens-access", "danger", risk=Risk.OPENS_ACCESS, **_listed(opening))
        )
    if any(rule.resource_name == EVERY_NAME and rule.permission == ALLOW for rule in added):
        found.append(warning_of("every-resource"))
    if any(rule.permission == DENY for rule in added):
        found.append(warning_of("deny-wins", "danger", risk=Risk.LOSES_ACCESS))
    return found


def delete_warnings(removed: Sequence[AclBinding], left: Iterable[AclBinding]) -> Warnings:
    found = []
    lifted = sum(rule.permission == DENY for rule in removed)
    if lifted:
        found.append(warning_of("deny-lifted", "danger", risk=Risk.OPENS_ACCESS, rules=lifted))
    lost = access_lost(removed, left)
    if lost:
        found.append(warning_of("access-lost", "danger", risk=Risk.LOSES_ACCESS, **_listed(lost)))
    return found


def opens(rule: AclBinding) -> bool:
    """Whether everyone may then change what others need, or reach all of a type."""
    if rule.principal != EVERYONE or rule.permission != ALLOW:
        return False
    whole = rule.resource_name == EVERY_NAME or rule.resource_type == "CLUSTER"
    return rule.operation in RULING or (whole and rule.operation not in LOOKING)


def access_lost(removed: Sequence[AclBinding], left: Iterable[AclBinding]) -> list[AclBinding]:
    """The removed ALLOW rules of which no rule that is left grants all."""
    granting = [rule for rule in left if rule.permission == ALLOW]
    return [
        rule
        for rule in removed
        if rule.permission == ALLOW and not any(grants_all(other, rule) for other in granting)
    ]


def grants_all(other: AclBinding, rule: AclBinding) -> bool:
    """Whether `other` allows everything that `rule` allows."""
    return (
        other.principal in {rule.principal, EVERYONE}
        and other.host in {rule.host, "*"}
        and _implies(other.operation, rule.operation)
        and other.resource_type == rule.resource_type
        and _spans(other, rule)
    )


def _implies(operation: str, wanted: str) -> bool:
    return operation in {wanted, "ALL"} or operation in IMPLIED_BY.get(wanted, ())


def _spans(other: AclBinding, rule: AclBinding) -> bool:
    """Whether every name of `rule` is one of `other`."""
    if other.pattern_type != "PREFIXED":
        return other.resource_name == EVERY_NAME or (
            rule.pattern_type != "PREFIXED" and rule.resource_name == other.resource_name
        )
    if rule.pattern_type != "PREFIXED" and rule.resource_name == EVERY_NAME:
        return False
    return rule.resource_name.startswith(other.resource_name)


def _listed(rules: Sequence[AclBinding], most: int = 5) -> dict[str, Any]:
    """Parameters of sentences that end with rules."""
    return {
        "rules": "; ".join(rule.words() for rule in rules[:most]),
        "more": max(len(rules) - most, 0),
    }


# -- two passwords beside each other ------------------------------------------------------------
OTHER_MECHANISM = {"SCRAM-SHA-256": "SCRAM-SHA-512", "SCRAM-SHA-512": "SCRAM-SHA-256"}
"""Kafka keeps one password per user and mechanism: the second one stands under the other."""
LAST_LOGIN = "last-login"
"""Code of the refusal to remove the only password that a user has."""
ENABLED = "sasl.enabled.mechanisms"
SESSION = "connections.max.reauth.ms"
LOGIN_KEYS = (ENABLED, SESSION)
RETRY_FIRST_S, RETRY_MAX_S = 180.0, 3600.0
"""How long after a try the end of an overlap is tried again: longer than its operation may take."""
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))

LoginSettings = Mapping[int, Mapping[str, str | None]]
"""By broker: its settings that end in one of LOGIN_KEYS, of one listener or all; None: hidden."""


def lasting(seconds: int) -> str:
    """`1 hour`, `1 day 30 minutes`."""
    words = []
    for size, unit in _UNITS:
        number, seconds = divmod(seconds, size)
        if number:
            words.append(counted(number, unit))
    return " ".join(words) or "0 seconds"


def retry_after_s(tries: int) -> float:
    return float(min(RETRY_FIRST_S * 2 ** min(tries, 10), RETRY_MAX_S))


def brokers_without(settings: LoginSettings, mechanism: str) -> list[int]:
    """Brokers no listener of which enables it; one that does not say is not among them."""
    found = []
    for broker, rows in sorted(settings.items()):
        values = [value for key, value in rows.items() if key.endswith(ENABLED)]
        if values and not any(value is None or mechanism in _words(value) for value in values):
            found.append(broker)
    return found


def login_warnings(settings: LoginSettings, unknown: str, mechanism: str) -> Warnings:
    """What is uncertain of a login by `mechanism`; `unknown`: why nothing could be read."""
    found = []
    silent = [
        broker
        for broker, rows in sorted(settings.items())
        if not any(key.endswith(ENABLED) and value is not None for key, value in rows.items())
    ]
    if unknown or silent or not settings:
        found.append(
            warning_of(
                "mechanism-unknown",
                brokers=len(silent),
                reason=unknown or None,
                mechanism=mechanism,
            )
        )
    lacking = sorted(
        {
            key.removesuffix(f".{ENABLED}") if key != ENABLED else "*"
            for rows in settings.values()
            for key, value in rows.items()
            if key.endswith(ENABLED) and value is not None and mechanism not in _words(value)
        }
    )
    if lacking:
        found.append(
            warning_of(
                "mechanism-not-everywhere",
                "danger",
                mechanism=mechanism,
                listeners=", ".join(lacking),
            )
        )
    return found


def session_s(settings: LoginSettings) -> int | None:
    """After how long connections that are open when a password ends have to log in again; 0: never,
    None: it could not be read.
    """
    values = {
        value for rows in settings.values() for key, value in rows.items() if key.endswith(SESSION)
    }
    known = [int(value) for value in values if value is not None and value.isdigit()]
    if not settings or not values or len(known) < len(values):
        return None
    return 0 if 0 in known else max(1, max(known) // 1000)


def _words(value: str) -> set[str]:
    return {word.strip() for word in value.split(",")}
