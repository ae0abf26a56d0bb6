"""Whether a worker takes up a task about a cluster, gives it to the other pool, or puts it back.

Deciding costs one look at the cluster's record and none at the cluster. Copies of a task (the sweep
sends one for whatever it takes for lost) end here, so that waiting makes no more of them.
"""

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from enum import StrEnum
from typing import Any, TypeVar

from django.conf import settings
from django.utils import timezone
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from controlplane.common.metrics import (
    TASKS_DROPPED,
    TASKS_MOVED,
    TASKS_PUT_BACK,
    SharedCounter,
)
from controlplane.common.redis_link import LINK, PREFIX
from controlplane.common.slots import Slots
from controlplane.gateway.breakers import BREAKERS
from controlplane.operations.models import Operation
from controlplane.operations.operations import kind_of
from controlplane.operations.queues import (
    EARLY_S,
    MOVING_S,
    PUT_BACK_S,
    QUEUED_AT,
    QUEUES,
    SLOW,
    Shares,
    bounds_of,
    queue_for,
)
from controlplane.operations.states import ACTIVE_STATES

log = logging.getLogger(__name__)
R = TypeVar("R")
SLOTS = Slots()
"""Threads of this worker process, by tenant and cluster."""


class Verdict(StrEnum):
    RUN = "run"
    MOVE = "move"
    """To the other queue."""
    WAIT = "wait"
    """Send it again in `PUT_BACK_S`."""
    DROP = "drop"
    """It is over, or another copy of it is on its way."""


class Place:
    """What a task needs here: the queue that it belongs to and slots, taken while it runs."""

    def __init__(self, task_id: str, *, tenant_id: str, cluster_id: str | None, queue: str) -> None:
        self.task_id = task_id
        self.queue = queue
        self.tenant_id = tenant_id
        self.cluster_id = cluster_id

    @property
    def _moving_key(self) -> str:
        return f"moving:{self.queue}:{self.task_id}"

    @contextlib.contextmanager
    def taken(self, came_by: str | None) -> Iterator[Verdict]:
        """The verdict on a task that came by this queue; slots are held while it is `RUN`.

        `came_by` is no queue of ours in tests and where an operator has queues of another layout:
        the task runs where it is then.
        """
        if came_by in QUEUES and came_by != self.queue:
            yield self._once(Verdict.MOVE, TASKS_MOVED, self._moving_key, MOVING_S)
            return
        if self.queue == SLOW:
            _forget(self._moving_key)
        bounds = bounds_of(
            _shares(self.queue), tenant_id=self.tenant_id, cluster_id=self.cluster_id
        )
        if not SLOTS.take(bounds):
            yield self._once(
                Verdict.WAIT, TASKS_PUT_BACK, f"put-back:{self.task_id}", PUT_BACK_S[self.queue]
            )
            return
        try:
            yield Verdict.RUN
        finally:
            SLOTS.give_back(bounds)

    def _once(self, verdict: Verdict, counter: SharedCounter, key: str, length_s: float) -> Verdict:
        """The verdict, unless another copy of the task has had it a moment ago."""
        try:
            is_first = LINK.call(
                lambda client: client.set(PREFIX + key, 1, nx=True, px=int(length_s * 1000))
            )
        except RedisError:
            is_first = True  # sending it may fail as well; the sweep sends it again
        if not is_first:
            TASKS_DROPPED.inc()
            return Verdict.DROP
        counter.inc(of=self.queue)
        return verdict


@contextlib.contextmanager
def slow_share(*, tenant_id: str, cluster_id: str) -> Iterator[bool]:
    """Whether a round in the pool for silent clusters may ask this one now; held within.

    False: the tenant, or the cluster, has its share of the pool. A round goes on with the next one.
    """
    bounds = bounds_of(_shares(SLOW), tenant_id=tenant_id, cluster_id=cluster_id)
    is_taken = SLOTS.take(bounds)
    try:
        yield is_taken
    finally:
        if is_taken:
            SLOTS.give_back(bounds)


def run_here(task: Any, place: Place, work: Callable[[], R], **sending: Any) -> R | None:
    """`work()` in this worker, when the place is here and free.

    Otherwise Celery's `task` is sent where it belongs, with its own arguments and the options
    `sending`.
    """
    came_by = (task.request.delivery_info or {}).get("routing_key")
    with place.taken(came_by) as verdict:
        if verdict is Verdict.RUN:
            return work()
    if verdict is Verdict.DROP:
        return None
    if verdict is Verdict.WAIT:
        sending["countdown"] = PUT_BACK_S[place.queue]
    try:
        task.apply_async(task.request.args, queue=place.queue, **sending)
    except OperationalError as error:
        log.debug("%s is sent again by the sweep: %s", place.task_id, error)
    return None


def queued_for_s(task: Any) -> float:
    """How long a Celery task that runs now waited in its queue; 0 when its message does not say."""
    queued_at_s = task.request.get(QUEUED_AT)
    return 0.0 if queued_at_s is None else max(0.0, time.time() - float(queued_at_s))


def not_swept_lately(operation_ids: list[str], count_max: int, kept_s: float) -> list[str]:
    """The first of those whose tick no sweep of any process has sent; noted for `kept_s` as sent.

    Without Redis nothing is known: then there is no queue either.
    """
    if not operation_ids:
        return []
    keys = {each: f"{PREFIX}swept:{each}" for each in operation_ids}

    def note(client: Any) -> list[str]:
        known = client.mget(list(keys.values()))
        fresh = [each for each, at in zip(keys, known, strict=True) if at is None][:count_max]
        pipe = client.pipeline(transaction=False)
        for each in fresh:
            pipe.set(keys[each], 1, px=int(kept_s * 1000))
        pipe.execute()
        return fresh

    try:
        return LINK.call(note)
    except RedisError:
        return operation_ids[:count_max]


def place_of_operation(operation_id: str) -> Place | None:
    """None: the operation is over, or is not due yet and this is a copy of a tick that has run."""
    row = (
        Operation.objects.filter(pk=operation_id, state__in=ACTIVE_STATES)
        .values_list("tenant_id", "cluster_id", "kind", "next_run_at")
        .first()
    )
    if row is None:
        return None
    tenant_id, cluster_id, kind_name, next_run_at = row
    if next_run_at > timezone.now() + timedelta(seconds=EARLY_S):
        TASKS_DROPPED.inc()
        return None
    return place_of_cluster(
        operation_id,
        tenant_id=str(tenant_id),
        cluster_id=cluster_id,
        is_first_contact=is_first_contact(kind_name),
    )


def is_first_contact(kind_name: str) -> bool:
    kind = kind_of(kind_name)
    return kind is not None and kind.first_contact


def place_of_cluster(
    task_id: str, *, tenant_id: str, cluster_id: str | None, is_first_contact: bool = False
) -> Place:
    """Where a task about a cluster belongs; without one it is no cluster's trouble."""
    known = BREAKERS.records([cluster_id]) if cluster_id is not None else {}
    is_doubtful = any(record.is_doubtful for record in known.values())
    queue = queue_for(is_first_contact=is_first_contact, is_doubtful=is_doubtful)
    return Place(task_id, tenant_id=tenant_id, cluster_id=cluster_id, queue=queue)


def _shares(queue: str) -> Shares:
    if queue == SLOW:
        return Shares(settings.SLOW_TASKS_PER_TENANT, settings.SLOW_TASKS_PER_CLUSTER)
    return Shares(settings.TASKS_PER_TENANT, settings.TASKS_PER_CLUSTER)


def _forget(key: str) -> None:
    try:
        LINK.call(lambda client: client.delete(PREFIX + key))
    except RedisError as error:
        log.debug("%s runs out by itself: %s", key, error)
