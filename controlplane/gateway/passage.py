"""The one place that every question to a cluster passes: breaker, bounds, counts.

A question holds a thread until its deadline. So a tenant's clusters together, and each of them,
have a bound of questions at a time in this process, far smaller for clusters that may well not
answer; a question beyond it is refused as busy, one to an open breaker is refused at once, with the
reason and after how long it may succeed.
"""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar, cast

from django.conf import settings

from controlplane.common.metrics import FIRST_LOOKS_REFUSED
from controlplane.common.slots import Slots
from controlplane.common.tally import TALLY
from controlplane.gateway.breaker import CLOSED, Record, Refuse
from controlplane.gateway.breakers import BREAKERS, Breakers
from controlplane.gateway.errors import (
    BUSY,
    LOGIN_WANTED,
    NOT_ANSWERING,
    GatewayError,
    not_asked,
    unreachable,
)
from controlplane.gateway.patience import bounded, is_over, is_past
from controlplane.gateway.port import BrokerView, ClusterGateway

R = TypeVar("R")
OF_CERTAIN_BROKERS = frozenset(
    {
        "list_groups",
        "describe_groups",
        "group_offsets",
        "commit_group_offsets",
        "delete_group_offsets",
        "delete_group",
        "delete_records",
        "offsets",
        "describe_producers",
        "transactions",
        "log_dir_space",
        "log_directories",
        "alter_replica_log_dirs",
        "log_dirs",
        "broker_configs",
        "alter_broker_configs",
    }
)
"""Questions that leaders, coordinators or named brokers answer, and no other broker can."""

CALLS, CALL_SECONDS = "gateway_calls", "gateway_call_seconds"
"""Names in the tally; `CALL_SECONDS` has `_bucket`, `_sum` and `_count`."""
OK, REFUSED, NO_ANSWER, STOPPED, TOO_MANY = "ok", "refused", "no-answer", "breaker-open", "busy"
BUCKETS_S = (0.01, 0.05, 0.25, 1.0, 5.0, 10.0)
BUSY_RETRY_S = 1.0

SLOTS = Slots()
"""Questions under way in this process."""


class Passage:
    """The way to one cluster, from this process."""

    def __init__(
        self,
        cluster_id: str,
        tenant_id: str,
        *,
        breakers: Breakers = BREAKERS,
        slots: Slots = SLOTS,
    ) -> None:
        self.cluster_id = cluster_id
        self._tenant_id = tenant_id
        self._breakers = breakers
        self._slots = slots

    def run(
        self,
        work: Callable[[], R],
        *,
        what: str,
        is_particular: bool = False,
        away: Collection[str] = (),
    ) -> R:
        """`work()`, when it may pass.

        Args:
            work: asks the cluster; it has a deadline of its own.
            what: the question, in a few words for the refusal.
            is_particular: only certain brokers can answer it.
            away: further codes of errors that mean that nobody answered.

        Raises:
            GatewayError: `not-answering`, `busy` or `not-asked`, and nothing was sent; or what
                `work` raises.
        """
        if is_past():
            raise not_asked(what)
        record, decision = self._breakers.look(self.cluster_id)
        if isinstance(decision, Refuse):
            raise self._stopped(record, decision)
        bounds = self._bounds(record)
        if not self._slots.take(
            bounds, wait_s=0 if record.is_doubtful else bounded(settings.GATEWAY_WAIT_S)
        ):
            self._count(TOO_MANY)
            raise _busy(
                f"{what}: too many questions to this cluster, or to this tenant's clusters, wait"
            )
        try:
            is_probe = False
            if record.state != CLOSED:
                record, decision = self._breakers.enter(self.cluster_id)
                if isinstance(decision, Refuse):
                    raise self._stopped(record, decision)
                is_probe = decision.is_probe
            return self._timed(work, is_particular=is_particular, away=away, is_probe=is_probe)
        finally:
            self._slots.give_back(bounds)

    def _bounds(self, record: Record) -> dict[str, int]:
        bounds = {
            f"cluster:{self.cluster_id}": settings.GATEWAY_CALLS_PER_CLUSTER,
            f"tenant:{self._tenant_id}": settings.GATEWAY_CALLS_PER_TENANT,
        }
        if record.is_doubtful:
            bounds[f"doubtful:{self._tenant_id}"] = settings.GATEWAY_DOUBTFUL_CALLS_PER_TENANT
        return bounds

    def _timed(
        self, work: Callable[[], R], *, is_particular: bool, away: Collection[str], is_probe: bool
    ) -> R:
        began_s = time.monotonic()
        try:
            value = work()
        except GatewayError as error:
            took_s = time.monotonic() - began_s
            if is_answer(error):
                self._breakers.answered(self.cluster_id)
                self._count(REFUSED, took_s)
                raise
            # What fails here and for good, as a certificate does, is said again each time; only a
            # probe has to end in something. Nor is a cluster away because a page cannot wait.
            is_away = (error.retriable or error.code in away) and not is_over()
            if is_away or is_probe:
                self._breakers.failed(
                    self.cluster_id,
                    took_s=took_s,
                    reason=error.said,
                    is_probe=is_probe,
                    is_particular=is_particular,
                )
            self._count(NO_ANSWER, took_s)
            raise
        self._breakers.answered(self.cluster_id)
        self._count(OK, time.monotonic() - began_s)
        return value

    def _stopped(self, record: Record, decision: Refuse) -> GatewayError:
        self._count(STOPPED)
        return not_answering(record, decision.wait_s)

    def _count(self, outcome: str, took_s: float | None = None) -> None:
        TALLY.add(CALLS, cluster=self.cluster_id, outcome=outcome)
        if took_s is None:
            return
        bound = next((str(bound) for bound in BUCKETS_S if took_s <= bound), "+Inf")
        TALLY.add(f"{CALL_SECONDS}_bucket", cluster=self.cluster_id, le=bound)
        TALLY.add(f"{CALL_SECONDS}_sum", took_s, cluster=self.cluster_id)


@contextlib.contextmanager
def first_look(tenant_id: str, slots: Slots = SLOTS) -> Iterator[None]:
    """Within, an address of this tenant is asked that nobody has reached yet: it has no breaker.

    Raises:
        GatewayError: `busy`; as many of the tenant's addresses are being asked, or of its clusters
            that did not answer last.
    """
    bounds = {f"doubtful:{tenant_id}": settings.GATEWAY_DOUBTFUL_CALLS_PER_TENANT}
    if not slots.take(bounds):
        FIRST_LOOKS_REFUSED.inc()
        raise _busy("this address has to wait for others of this tenant that do not answer yet")
    try:
        yield
    finally:
        slots.give_back(bounds)


def _busy(detail: str) -> GatewayError:
    return GatewayError(BUSY, detail, retriable=True, retry_after_s=BUSY_RETRY_S)


def is_answer(error: GatewayError) -> bool:
    """Whether a Kafka said it: its own names of errors are upper case."""
    return error.code.isupper() or error.code == LOGIN_WANTED


def not_answering(record: Record, wait_s: float) -> GatewayError:
    """The refusal of an open breaker: since when, why, and when the cluster is asked again."""
    if record.answered_at_s is not None:
        since = f"This cluster has not answered since {_time(record.answered_at_s)}"
    elif record.failing_since_s is not None:
        since = f"This cluster has not answered yet; first asked at {_time(record.failing_since_s)}"
    else:
        since = "This cluster does not answer"
    reason = f" ({record.reason})" if record.reason else ""
    return GatewayError(
        NOT_ANSWERING,
        f"{since}{reason}. It is asked again in {math.ceil(wait_s)} s.",
        retriable=True,
        retry_after_s=wait_s,
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class GuardedGateway:
    """A gateway whose every question goes through the cluster's passage.

    Closing it waits for nobody: the connection closes with the last question that is under way.
    """

    def __init__(self, gateway: ClusterGateway, passage: Passage) -> None:
        self._gateway = gateway
        self._passage = passage
        self._lock = threading.Lock()
        self._under_way = 0
        self._is_closed = False
        self.used_at_s = time.monotonic()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        question = getattr(self._gateway, name)

        def ask(*args: Any, **kwargs: Any) -> Any:
            return self._asked(name, partial(question, *args, **kwargs))

        return ask

    def close(self) -> None:
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
            is_idle = not self._under_way
        if is_idle and not was_closed:
            self._gateway.close()

    def at(self, broker: int) -> BrokerView:
        """One broker's view; its silence says nothing of the cluster."""
        return cast("BrokerView", _GuardedView(self, self._gateway.at(broker)))

    def _asked(self, name: str, work: Callable[[], R], *, is_particular: bool = False) -> R:
        with self._lock:
            if self._is_closed:
                raise unreachable("the connection was closed: the way to this cluster has changed")
            self._under_way += 1
        self.used_at_s = time.monotonic()
        try:
            return self._passage.run(
                work,
                what=name.replace("_", " "),
                is_particular=is_particular or name in OF_CERTAIN_BROKERS,
            )
        finally:
            self.used_at_s = time.monotonic()
            if self._leave():
                self._gateway.close()

    def _leave(self) -> bool:
        """Whether this was the last question to a gateway that is closed."""
        with self._lock:
            self._under_way -= 1
            return self._is_closed and not self._under_way


class _GuardedView:
    """Questions to one broker of the cluster, under the cluster's bounds."""

    def __init__(self, gateway: GuardedGateway, view: BrokerView) -> None:
        self._gateway, self._view = gateway, view

    def __getattr__(self, name: str) -> Callable[..., Any]:
        question = getattr(self._view, name)

        def ask(*args: Any, **kwargs: Any) -> Any:
            work = partial(question, *args, **kwargs)
            return self._gateway._asked(name, work, is_particular=True)  # noqa: SLF001 - of one module

        return ask


def as_gateway(guarded: GuardedGateway) -> ClusterGateway:
    """It has every method of the port, by `__getattr__`; a test holds it to that."""
    return cast("ClusterGateway", guarded)
