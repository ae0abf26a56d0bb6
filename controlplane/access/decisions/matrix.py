"""Principals × resources: which operations rules allow and deny. Pure.

It shows the rules as they are, not what they come to: a cell is of one principal and one pattern.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.access.rules import DENY
from controlplane.gateway.types import AclBinding

COLUMNS_MAX = 40
"""Resources shown beside each other; those with the most rules on the page come first."""
TYPE_ORDER = ("CLUSTER", "TOPIC", "GROUP", "TRANSACTIONAL_ID")

Resource = tuple[str, str, str]
"""Type, pattern, name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What of the rules is looked at; empty: all."""

    principal: str = ""
    resource: str = ""
    resource_type: str = ""

    def fits(self, rule: AclBinding) -> bool:
        return (
            self.principal.lower() in rule.principal.lower()
            and self.resource.lower() in rule.resource_name.lower()
            and self.resource_type in {"", rule.resource_type}
        )


def matrix(rules: Sequence[AclBinding], principals: Sequence[str]) -> dict[str, Any]:
    """{resources, columns_left_out, rows} of these principals.

    A row is {principal, cells}; a cell {resource, allow, deny}, `resource` its column's number, and
    each entry {operation, hosts}, hosts sorted, `*` anywhere. Cells without a rule are left out.
    """
    chosen = set(principals)
    mine = [rule for rule in rules if rule.principal in chosen]
    columns, left_out = _columns(mine)
    number = {resource: at for at, resource in enumerate(columns)}
    cells: dict[tuple[str, int], list[AclBinding]] = defaultdict(list)
    for rule in mine:
        at = number.get(_resource(rule))
        if at is not None:
            cells[rule.principal, at].append(rule)
    return {
        "resources": [
            {"resource_type": kind, "pattern_type": pattern, "resource_name": name}
            for kind, pattern, name in columns
        ],
        "columns_left_out": left_out,
        "rows": [
            {
                "principal": principal,
                "cells": [
                    _cell(at, cells[principal, at])
                    for at in range(len(columns))
                    if (principal, at) in cells
                ],
            }
            for principal in principals
        ],
    }


def _resource(rule: AclBinding) -> Resource:
    return rule.resource_type, rule.pattern_type, rule.resource_name


def _columns(rules: Iterable[AclBinding]) -> tuple[list[Resource], int]:
    """At most COLUMNS_MAX, in the order that people read them, and how many more there are."""
    counts: dict[Resource, int] = defaultdict(int)
    for rule in rules:
        counts[_resource(rule)] += 1
    busiest = sorted(counts, key=lambda each: (-counts[each], each))[:COLUMNS_MAX]
    return sorted(busiest, key=_place), len(counts) - len(busiest)


def _place(resource: Resource) -> tuple[int, str, str]:
    kind, pattern, name = resource
    at = TYPE_ORDER.index(kind) if kind in TYPE_ORDER else len(TYPE_ORDER)
    return at, name, pattern


def _cell(at: int, rules: Iterable[AclBinding]) -> dict[str, Any]:
    by_operation: dict[tuple[bool, str], set[str]] = defaultdict(set)
    for rule in rules:
        by_operation[rule.permission == DENY, rule.operation].add(rule.host)
    entries = {
        denies: [
            {"operation": operation, "hosts": sorted(hosts)}
            for (is_deny, operation), hosts in sorted(by_operation.items())
            if is_deny is denies
        ]
        for denies in (False, True)
    }
    return {"resource": at, "allow": entries[False], "deny": entries[True]}
