"""Making trouble at one step of an operation, and looking at the whole world around it."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from controlplane.clusters.models import DELETED, Cluster
from controlplane.operations import engine
from controlplane.operations.models import Operation, Plan
from controlplane.operations.operations import OperationKind, Wait, kind_names, required_kind
from controlplane.operations.states import ACTIVE_STATES
from tests.controlplane.kind_plans import plan_of
from tests.controlplane.support import World

FORWARD = ("execute", "verify")
BEFORE, AFTER = "before", "after"


class ProcessKilled(BaseException):
    """What a test raises where a process would be gone."""


def steps_of(*phases: str) -> list[tuple[str, str]]:
    """(kind, step) of every step of every kind in these phases."""
    return [
        (name, spec.name)
        for name in kind_names()
        for spec in required_kind(name).steps
        if spec.phase in phases
    ]


def runnable(world: World, kind: str, number: int = 1) -> Plan:
    """A plan of the kind whose operation runs to its end on the fakes; as `plan_of` otherwise."""
    if kind != "cluster.delete":
        return plan_of(world, kind, number)
    made = world.run("cluster.create", None, name=f"doomed-{number}", broker_count=2)
    assert made.state == "succeeded", made.error
    return world.plan(kind, made.cluster_id)


def seen(world: World) -> dict[str, Any]:
    """Everything that operations change: brokers, hosts, the rows of clusters."""
    gateway, hosts = world.gateway, world.hosts
    rows = Cluster.objects.exclude(phase=DELETED).order_by("name")
    return {
        "topics": {
            name: (
                topic.topic_id,
                [part.replicas for part in topic.partitions],
                [part.target for part in topic.partitions],
                [part.log_start for part in topic.partitions],
                {key: value for key, value in topic.configs.items() if value},
            )
            for name, topic in gateway.topics.items()
        },
        "users": dict(gateway.users),
        "acls": set(gateway.acls),
        "committed": {group: dict(at) for group, at in gateway.committed.items() if at},
        "brokers": {key: value for key, value in gateway.broker_overrides.items() if value},
        "defaults": dict(gateway.broker_defaults),
        "desired": {key: spec["state"] for key, spec in hosts.desired.items()},
        "chroots": set(hosts.chroots),
        "clusters": [(row.name, row.phase) for row in rows],
        "directories": {
            broker.key: (broker.log_dirs, broker.given_up_dirs)
            for row in rows
            for broker in row.brokers.all()
        },
        "software": {
            row.name: (
                row.protocol_version,
                {
                    broker.key: (broker.version or row.version, broker.address, broker.zookeeper)
                    for broker in row.brokers.all()
                },
            )
            for row in rows
        },
    }


def act(
    monkeypatch: pytest.MonkeyPatch,
    at: tuple[str, str],
    when: str,
    what: Callable[[], object],
    *,
    times: int = 1,
) -> list[str]:
    """Do `what` before or after the step `at`, the first `times`; the list grows with each.

    A tick that only notes in our own rows what the next one will do is not what it is after.
    """
    spec_of, done = OperationKind.step, []
    kind_name, step_name = at

    def step(self: OperationKind, name: str) -> Any:
        spec = spec_of(self, name)
        if (self.name, name) != (kind_name, step_name):
            return spec

        def run(kind: Any, context: Any) -> Any:
            if when == AFTER:
                outcome = spec.run(kind, context)
                if outcome == Wait(seconds=0.0):
                    return outcome
            if len(done) < times:
                done.append(when)
                what()
            return outcome if when == AFTER else spec.run(kind, context)

        return dataclasses.replace(spec, run=run)

    monkeypatch.setattr(OperationKind, "step", step)
    return done


def raising(error: BaseException) -> Callable[[], None]:
    def raise_it() -> None:
        raise error

    return raise_it


def expire(operation: Operation) -> None:
    """As after a time longer than every lease."""
    past = timezone.now() - timedelta(seconds=60)
    Operation.objects.filter(pk=operation.pk).update(lease_expires_at=past, next_run_at=past)


def outlive(operation: Operation, *, ticks: int = 300) -> Operation:
    """Tick until it ends; a worker that dies is followed by one that comes after its lease."""
    for _ in range(ticks):
        operation.refresh_from_db()
        if operation.state not in ACTIVE_STATES:
            return operation
        with contextlib.suppress(ProcessKilled):
            engine.tick(operation.id)
            continue
        assert engine.tick(operation.id) is False, "the dead hold the lease until it runs out"
        expire(operation)
    raise AssertionError(f"{operation} does not end: {list(operation.steps.values())}")


@contextlib.contextmanager
def while_away(begin: Callable[[], None], end: Callable[[], None]) -> Iterator[None]:
    begin()
    try:
        yield
    finally:
        end()
