"""What brings the world back when an operation failed or was cancelled, and what stays. Pure.

Each step that writes on the way to success says which steps bring back what it did (`restored_by`),
or what stays and why (`stays`); where some of the named steps do not run on a way out, it says
both. A kind that leaves this open is not offered. `RESTORES.md` shows all of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

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
    def stays(self) -> str: ...


class Ran(Protocol):
    """What these rules need of a step that ran, or not; the model row has it."""

    name: str
    state: str
    detail: str

    @property
    def was_begun(self) -> bool: ...


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


def remaining(declared: Sequence[Declared], ran: Iterable[Ran], *, cancelled: bool) -> list[str]:
    """What stays of an operation that ended, beside what its restoring steps said themselves."""
    rows = {row.name: row for row in ran}
    found = []
    for step in declared:
        row = rows.get(step.name)
        if step.phase != EXECUTE or not step.writes or row is None or not row.was_begun:
            continue
        back = restorers(step, declared, cancelled=cancelled)
        failed = [
            other for other in back if other.name in rows and rows[other.name].state != "done"
        ]
        if failed:
            found.append(f"What “{step.title}” did may stay: {_why(failed[0], rows)}.")
        if step.stays and (failed or not back):
            found.append(step.stays)
    return list(dict.fromkeys(found))


def _why(step: Declared, rows: Mapping[str, Ran]) -> str:
    row = rows[step.name]
    if row.state != "failed":
        return f"“{step.title}” was not run"
    return f"“{step.title}” failed" + (f" ({row.detail})" if row.detail else "")
