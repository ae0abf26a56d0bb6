"""What a topic's configuration was, by the operations that changed it. Pure.

Changes that others made at the brokers are in no operation: those are drift.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

CREATED, DELETED = "topic.create", "topic.delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A verified operation on the topic, with the plan that it carried out."""

    id: str
    kind: str
    at: str | None
    actor: str
    reason: str
    undone_by: str | None
    inputs: Mapping[str, Any]
    diff: Mapping[str, Any]


def config_history(operations: Iterable[Done]) -> list[dict[str, Any]]:
    """Rows of this topic alone, newest first: not of an earlier one of its name.

    Args:
        operations: newest first.
    """
    found = []
    for operation in operations:
        if operation.kind == DELETED:
            break
        changes = _changes(operation)
        if changes:
            found.append(
                {
                    "operation_id": operation.id,
                    "kind": operation.kind,
                    "at": operation.at,
                    "actor": operation.actor,
                    "reason": operation.reason,
                    "undone_by": operation.undone_by,
                    "changes": changes,
                }
            )
        if operation.kind == CREATED:
            break
    return found


def _changes(operation: Done) -> list[dict[str, Any]]:
    """By key: what the topic set itself, and what held then; null: not set, or not known."""
    if operation.kind == CREATED:
        before: Mapping[str, Any] = {}
        after = operation.inputs.get("configs") or {}
    else:
        before = (operation.diff.get("before") or {}).get("configs") or {}
        after = (operation.diff.get("after") or {}).get("configs") or {}
    held = operation.diff.get("effective_before") or {}
    holds = operation.diff.get("effective_after") or {}
    return [
        {
            "key": key,
            "before": before.get(key),
            "after": after.get(key),
            "effective_before": held.get(key, before.get(key)),
            "effective_after": holds.get(key, after.get(key)),
        }
        for key in sorted({*before, *after})
    ]
