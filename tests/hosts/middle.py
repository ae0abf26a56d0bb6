"""Somebody dies in the middle of an operation: a worker, an agent or the active controller."""

from __future__ import annotations

import dataclasses
import enum
import os
import signal
from typing import TYPE_CHECKING, Any

from tests.controlplane.live.holds import BEFORE
from tests.controlplane.live.service import TERMINAL
from tests.local_cluster import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hosts.stage import Run

AWAY_S = 3.0
"""For how long nobody takes the dead agent's place."""
REACHED_S = 300.0


class Victim(enum.StrEnum):
    NOBODY = enum.auto()
    WORKER = enum.auto()
    AGENT = enum.auto()
    CONTROLLER = enum.auto()


@dataclasses.dataclass(frozen=True, slots=True)
class Moment:
    """Where an operation is stopped so that somebody can be killed.

    Attributes:
        step, when: as `holds` has them.
        is_there: of the operation as REST shows it; the step is stopped in the tick after that is
            so. None: in its first one.
    """

    step: str
    when: str
    is_there: Callable[[dict[str, Any]], bool] | None = None


def a_broker_returns(operation: dict[str, Any]) -> bool:
    """Of a roll: a broker was told to stop, and is not in sync again."""
    return broker_under_way(operation) is not None


def broker_under_way(operation: dict[str, Any]) -> int | None:
    roll = (operation["outcome"] or {}).get("roll", {"brokers": []})
    found = [row["id"] for row in roll["brokers"] if row["state"] in ("returning", "catching-up")]
    return found[0] if found else None


IN_A_ROLL = Moment("roll", BEFORE, a_broker_returns)


def operate(
    run: Run,
    plan: dict[str, Any],
    victim: Victim = Victim.NOBODY,
    moment: Moment = IN_A_ROLL,
    *,
    host: str = "",
) -> dict[str, Any]:
    """Confirm the plan and see it through; at the moment, the victim is killed.

    Args:
        host: whose agent it is; of a roll that of the broker under way.

    Returns the operation, which has succeeded.
    """
    service = run.service
    run.traffic.mark(plan["kind"])
    if victim is Victim.NOBODY:
        return succeeded(service.finish(service.confirm(plan)))
    if moment.is_there is None:
        service.holds.place(plan["kind"], moment.step, moment.when)
    operation = service.confirm(plan)
    if moment.is_there is not None:
        operation = reached(run, operation, moment.is_there)
        service.holds.place(plan["kind"], moment.step, moment.when)
    held = service.holds.await_held()
    assert held["operation_id"] == operation["id"]
    now = service.operation(operation)
    assert now["state"] not in TERMINAL, now
    if victim is Victim.WORKER:
        service.kill_held(held)
    elif victim is Victim.AGENT:
        broker = broker_under_way(now)
        dead = host or service.host_of(broker if broker is not None else 1)
        run.site.kill_agent(dead)
        service.holds.let_go(operation["id"])
        run.traffic.flows_for(AWAY_S)
        run.site.start_host(dead)
    else:
        os.kill(run.site.pid_of(run.traffic.controller()), signal.SIGKILL)
        service.holds.let_go(operation["id"])
    ended = succeeded(service.finish(operation))
    if victim is Victim.WORKER:
        assert len(set(service.holds.workers_of(operation["id"]))) > 1
    return ended


def reached(
    run: Run, operation: dict[str, Any], is_there: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    for _ in eventually(REACHED_S, f"the middle of {operation['kind']}"):
        now: dict[str, Any] = run.service.operation(operation)
        assert now["state"] not in TERMINAL, now
        if is_there(now):
            return now
    raise AssertionError


def succeeded(ended: dict[str, Any]) -> dict[str, Any]:
    assert ended["state"] == "succeeded", ended
    return ended
