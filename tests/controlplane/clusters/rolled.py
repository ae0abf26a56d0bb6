"""Rolls over the world's cluster, for tests of them: begun, and driven until something is so."""

from controlplane.clusters.models import Broker
from controlplane.operations import engine
from controlplane.operations.states import ACTIVE_STATES

KIND = "cluster.restart"


def generations(world):
    return dict(Broker.objects.filter(cluster=world.cluster).values_list("broker_id", "generation"))


def begin(world, **inputs):
    return world.start(world.plan(KIND, **{"canary_s": 0, **inputs}))


def until(operation, is_so, *, ticks=100):
    """Tick until it is so."""
    for _ in range(ticks):
        operation.refresh_from_db()
        if is_so(states(operation)):
            return operation
        assert operation.state in ACTIVE_STATES, operation.error
        engine.tick(operation.id)
    raise AssertionError(f"not so after {ticks} ticks: {states(operation)}")


def states(operation):
    roll = operation.memo.get("roll", {})
    return {row["id"]: row["state"] for row in roll.get("brokers", ())}
