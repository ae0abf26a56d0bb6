"""What ACLs open, and what taking them away costs. Pure."""

from collections.abc import Iterable, Sequence

from controlplane.common.words import counted
from controlplane.gateway.types import EVERY_NAME, AclBinding
from controlplane.operations.operations import warning
from controlplane.operations.risks import Risk

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
Warnings = list[dict[str, str]]


def create_warnings(added: Sequence[AclBinding]) -> Warnings:
    found = []
    if any(rule.principal == EVERYONE for rule in added):
        found.append(warning("everyone", "User:* means every user on this cluster.", "danger"))
    opening = [rule for rule in added if opens(rule)]
    if opening:
        found.append(
            warning(
                "opens-access",
                f"Every user of this cluster, also later: {_listed(opening)}.",
                "danger",
                risk=Risk.OPENS_ACCESS,
            )
        )
    if any(rule.resource_name == EVERY_NAME and rule.permission == ALLOW for rule in added):
        found.append(
            warning("every-resource", "The name * covers everything, also later.", "warning")
        )
    if any(rule.permission == DENY for rule in added):
        found.append(
            warning(
                "deny-wins",
                "A DENY rule beats every ALLOW rule: who used it so far is refused.",
                "danger",
                risk=Risk.LOSES_ACCESS,
            )
        )
    return found


def delete_warnings(removed: Sequence[AclBinding], left: Iterable[AclBinding]) -> Warnings:
    found = []
    lifted = sum(rule.permission == DENY for rule in removed)
    if lifted:
        found.append(
            warning(
                "deny-lifted",
                f"Without {counted(lifted, 'DENY rule')} more is allowed.",
                "danger",
                risk=Risk.OPENS_ACCESS,
            )
        )
    lost = access_lost(removed, left)
    if lost:
        found.append(
            warning(
                "access-lost",
                f"No other rule grants this: {_listed(lost)}. Clients that use it are refused.",
                "danger",
                risk=Risk.LOSES_ACCESS,
            )
        )
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


def _listed(rules: Sequence[AclBinding], most: int = 5) -> str:
    more = f" and {len(rules) - most} more" if len(rules) > most else ""
    return "; ".join(rule.words() for rule in rules[:most]) + more
