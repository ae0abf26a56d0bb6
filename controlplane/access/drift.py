"""Drift: where users and rules are not as the last verified operation on each left them. Pure.

What no operation was about has no desired state, and so no drift. What was not read is unknown, and
nothing is claimed of it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from controlplane.gateway.types import AclBinding
from controlplane.observed.drift_sentences import difference_said, problem_said

ACCESS_KINDS = (
    "user.create",
    "user.rotate",
    "user.retire",
    "user.delete",
    "acl.create",
    "acl.delete",
)
USER, RULE = "user", "acl"
NOT_KEPT, BY_USER_OPERATION = "passwords-not-kept", "by-user-operation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """An operation that succeeded, whether or not it was undone later: undoing is one, too."""

    id: str
    kind: str
    inputs: Mapping[str, Any]
    diff: Mapping[str, Any]
    preconditions: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """As an operation left it; no mechanisms, or not there: it was removed."""

    operation_id: str
    mechanisms: frozenset[str] = frozenset()
    is_there: bool = True


@dataclass(slots=True)
class Desired:
    users: dict[str, Wanted] = field(default_factory=dict)
    rules: dict[AclBinding, Wanted] = field(default_factory=dict)


def desired_access(operations: Iterable[Verified]) -> Desired:
    """Of operations on users and rules, oldest first."""
    found = Desired()
    for each in operations:
        added: Sequence[Mapping[str, Any]] = ()
        removed: Sequence[Mapping[str, Any]] = ()
        if each.kind == "user.create":
            name, mechanism = each.inputs["username"], each.inputs["mechanism"]
            found.users[name] = Wanted(each.id, _mechanisms(found, name) | {mechanism})
            added = each.inputs.get("acls", [])
        elif each.kind in {"user.rotate", "user.retire"}:
            name = each.inputs["username"]
            found.users[name] = Wanted(each.id, frozenset(each.diff["after"]["mechanisms"]))
        elif each.kind == "user.delete":
            found.users[each.inputs["username"]] = Wanted(each.id, is_there=False)
            removed = each.preconditions["acls"]
        elif each.kind == "acl.create":
            added = each.diff["after"]
        elif each.kind == "acl.delete":
            # What was taken over as gone was not there before.
            is_adopted = bool(each.inputs.get("adopt"))
            removed = each.inputs["bindings"] if is_adopted else each.diff["before"]
        found.rules |= {AclBinding(**row): Wanted(each.id) for row in added}
        found.rules |= {AclBinding(**row): Wanted(each.id, is_there=False) for row in removed}
    return found


def _mechanisms(found: Desired, name: str) -> frozenset[str]:
    before = found.users.get(name)
    return before.mechanisms if before is not None else frozenset()


def user_drift(
    desired: Mapping[str, Wanted], observed: Mapping[str, Collection[str]]
) -> list[dict[str, Any]]:
    """Rows {area, name, desired, observed, operation_id, text, text_code, params} with both ways
    to mend it; `observed`: mechanisms by user.
    """
    found = []
    for name, wanted in sorted(desired.items()):
        seen = frozenset(observed.get(name, ()))
        if seen == wanted.mechanisms:
            continue
        left, now = _logins(wanted.mechanisms), _logins(seen)
        said = difference_said(
            "user", name=name, observed=_named(seen), desired=_named(wanted.mechanisms)
        )
        row = _row(USER, name, wanted, (left, now), said)
        found.append({**row, **_user_ways(name, wanted.mechanisms)})
    return found


def _logins(mechanisms: Collection[str]) -> str:
    named = _named(mechanisms)
    return "no login" if named is None else f"a login by {named}"


def _named(mechanisms: Collection[str]) -> str | None:
    return ", ".join(sorted(mechanisms)) or None


def rule_drift(
    desired: Mapping[AclBinding, Wanted], observed: Collection[AclBinding]
) -> list[dict[str, Any]]:
    """Rows as those of `user_drift`."""
    found = []
    for rule, wanted in sorted(desired.items(), key=lambda item: item[0].words()):
        is_there = rule in observed
        if is_there == wanted.is_there:
            continue
        left, now = _presence(is_there=wanted.is_there), _presence(is_there=is_there)
        sentence = "acl/added" if wanted.is_there else "acl/removed"
        said = difference_said(sentence, rule=rule.words())
        row = _row(RULE, rule.words(), wanted, (left, now), said)
        found.append({**row, **_rule_ways(rule, is_wanted=wanted.is_there)})
    return found


def _user_ways(name: str, wanted: Collection[str]) -> dict[str, Any]:
    """Passwords are not kept, so that a login that is gone cannot be given back as it was."""
    back = None if wanted else {"kind": "user.delete", "inputs": {"username": name}}
    return {
        "back": back,
        **problem_said("back", NOT_KEPT if wanted else None),
        "adopt": None,
        **problem_said("adopt", BY_USER_OPERATION),
    }


def _rule_ways(rule: AclBinding, *, is_wanted: bool) -> dict[str, Any]:
    made, gone = ("acl.create", "acl.delete") if is_wanted else ("acl.delete", "acl.create")
    inputs = {"bindings": [asdict(rule)]}
    return {
        "back": {"kind": made, "inputs": inputs},
        **problem_said("back"),
        "adopt": {"kind": gone, "inputs": {**inputs, "adopt": True}},
        **problem_said("adopt"),
    }


def _presence(*, is_there: bool) -> str:
    return "there" if is_there else "not there"


def _row(
    area: str, name: str, wanted: Wanted, values: tuple[str, str], said: dict[str, Any]
) -> dict[str, Any]:
    """`values`: as it was left, as it is now; `said`: as `difference_said`."""
    return {
        "area": area,
        "name": name,
        "desired": values[0],
        "observed": values[1],
        "operation_id": wanted.operation_id,
        **said,
    }
