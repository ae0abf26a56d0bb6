"""What brings the world back when an operation failed or was cancelled, and what stays. Pure.

Each step that writes on the way to success says which steps bring back what it did (`restored_by`),
or what stays and why (`stays`); where some of the named steps do not run on a way out, it says
both. A kind that leaves this open is not offered. `RESTORES.md` shows all of it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from controlplane.common.sentences import Param, Phrases
from controlplane.operations.details import Detail, phrased, rows_beside, rows_of

EXECUTE, RESTORE, TEARDOWN, ALWAYS = "execute", "restore", "teardown", "always"
_AFTER_FAILURE = frozenset({RESTORE, ALWAYS})
_AFTER_CANCEL = frozenset({TEARDOWN, RESTORE, ALWAYS})


class Declared(Protocol):
    """What these rules need of a step; `StepSpec` has it."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def phase(self) -> str: ...
    @property
    def writes(self) -> bool: ...
    @property
    def restored_by(self) -> tuple[str, ...]: ...
    @property
    def stays(self) -> Detail | None: ...


class Ran(Protocol):
    """What these rules need of a step that ran, or not; the model row has it."""

    name: str
    state: str
    detail: str

    @property
    def was_begun(self) -> bool: ...


class Leaving(Protocol):
    """What these rules need of an operation; the model row has it."""

    remains: list[str] | None
    remains_parts: list[list[dict[str, Any]]]


def phases_after(*, cancelled: bool) -> frozenset[str]:
    """The phases of the steps that run when an operation was cancelled, or else has failed."""
    return _AFTER_CANCEL if cancelled else _AFTER_FAILURE


def restorers(step: Declared, steps: Iterable[Declared], *, cancelled: bool) -> list[Declared]:
    """The steps that bring back what this one did, if all of them run on this way; else none."""
    named = [other for other in steps if other.name in step.restored_by]
    phases = phases_after(cancelled=cancelled)
    return named if all(other.phase in phases for other in named) else []


def gaps(steps: Sequence[Declared], *, cancellable: bool) -> list[str]:
    """What the declarations leave open, as sentences; nothing when they are whole."""
    found = []
    restoring = {step.name for step in steps if step.phase in _AFTER_CANCEL}
    named = {name for step in steps for name in step.restored_by}
    for step in steps:
        if unknown := sorted(set(step.restored_by) - restoring):
            found.append(f"{step.name} is restored by what does not restore: {', '.join(unknown)}")
        if step.phase == EXECUTE and step.writes:
            ways = (False, True) if cancellable else (False,)
            if not step.stays and not all(restorers(step, steps, cancelled=way) for way in ways):
                found.append(f"{step.name} says neither what restores it nor what stays")
        elif step.phase == EXECUTE and (step.restored_by or step.stays):
            found.append(f"{step.name} writes nothing, so nothing of it is restored or stays")
        elif step.phase in {RESTORE, TEARDOWN} and step.name not in named:
            found.append(f"{step.name} restores nothing that a step names")
    return found


def remaining(
    kind: str, declared: Sequence[Declared], ran: Iterable[Ran], *, cancelled: bool
) -> list[Detail]:
    """What stays of an operation that ended, beside what its restoring steps said themselves."""
    rows = {row.name: row for row in ran}
    found: list[Detail] = []
    for step in declared:
        row = rows.get(step.name)
        if step.phase != EXECUTE or not step.writes or row is None or not row.was_begun:
            continue
        back = restorers(step, declared, cancelled=cancelled)
        failed = [
            other for other in back if other.name in rows and rows[other.name].state != "done"
        ]
        if failed:
            found.append(_may_stay(kind, step, failed[0], rows[failed[0].name]))
        if step.stays and (failed or not back):
            found.append(step.stays)
    return list(dict.fromkeys(found))


def with_left(operation: Leaving, more: Sequence[Detail]) -> dict[str, Any]:
    """What the operation leaves, with what more was found: the fields of its row."""
    texts = operation.remains or []
    parts = rows_beside(texts, operation.remains_parts)
    return {
        "remains": [*texts, *map(str, more)],
        "remains_parts": [*parts, *map(rows_of, more)],
    }


def _may_stay(kind: str, step: Declared, back: Declared, row: Ran) -> Detail:
    """Steps by the codes of their titles, as the kind has them (`OperationKind.titles`)."""
    did, undone = f"{kind}/{step.name}", f"{kind}/{back.name}"
    titles = {did: step.title, undone: back.title}
    phrases: Phrases = {"did_step": titles, "back_step": titles}
    params: dict[str, Param] = {"did_step": did, "back_step": undone}
    if row.state != "failed":
        return phrased("remains/may-stay", params, phrases)
    params["reason"] = row.detail or None
    return phrased("remains/may-stay/failed", params, phrases)
