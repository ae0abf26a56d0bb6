"""The life of one supervised broker, as a table."""

from __future__ import annotations

import dataclasses
import enum

from dataplane.model.transitions import IllegalTransitionError


class BrokerState(enum.Enum):
    """As reported in ZooKeeper. EXITED: being fenced. FAILED: not to be started as it is."""

    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    EXITED = "exited"
    BACKOFF = "backoff"
    FAILED = "failed"
    DELETED = "deleted"


_S = BrokerState

NEXT: dict[BrokerState, frozenset[BrokerState]] = {
    _S.STOPPED: frozenset({_S.STARTING, _S.RUNNING, _S.FAILED, _S.DELETED}),
    _S.STARTING: frozenset({_S.RUNNING, _S.EXITED, _S.STOPPED, _S.FAILED}),
    _S.RUNNING: frozenset({_S.EXITED, _S.STOPPED}),
    _S.EXITED: frozenset({_S.BACKOFF, _S.STARTING, _S.FAILED, _S.STOPPED}),
    _S.BACKOFF: frozenset({_S.STARTING, _S.STOPPED}),
    _S.FAILED: frozenset({_S.STARTING, _S.STOPPED, _S.DELETED}),
    _S.DELETED: frozenset({_S.STOPPED}),
}


def check_move(before: BrokerState, after: BrokerState) -> None:
    """Raises IllegalTransitionError."""
    if after not in NEXT[before]:
        raise IllegalTransitionError(f"{before.value} → {after.value}")


@dataclasses.dataclass(frozen=True, slots=True)
class End:
    """One end of the process that nobody asked for, with the last lines that it wrote."""

    at_ms: int
    exit_code: int | None
    message: str
    log_tail: tuple[str, ...] = ()


BACKOFF_MS_MIN, BACKOFF_MS_MAX = 500, 30_000
HEALTHY_AFTER_MS = 30_000


def backoff_ms(quick_exits: int) -> int:
    """How long to wait before the next start. The first exit in a row is followed up at once."""
    if quick_exits <= 1:
        return 0
    return min(BACKOFF_MS_MIN << min(quick_exits - 2, 16), BACKOFF_MS_MAX)


def quick_exits_after(before: int, ran_ms: int) -> int:
    """The count of quick exits in a row; one that ran long enough begins a new row."""
    return 1 if ran_ms >= HEALTHY_AFTER_MS else before + 1
