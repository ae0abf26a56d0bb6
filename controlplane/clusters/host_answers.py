"""What of an agent's answer reaches a reader: what is known, or a problem that says what is not."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from controlplane.clusters.brokers import NOT_OURS
from controlplane.clusters.hosts import HostsUnavailableError, hosts
from controlplane.clusters.models import MANAGED, Broker, Cluster
from controlplane.clusters.questions import (
    UNREADABLE,
    Answered,
    HostAnswer,
    HostQuestion,
    Unanswered,
)
from controlplane.clusters.zookeeper_away import away
from controlplane.common.problems import NotFound, TooManyRequests, Unavailable
from controlplane.common.slots import Slots
from controlplane.common.times import iso_of_ms

OPEN_PER_TENANT = 20
"""Questions of one tenant in this process: its hosts are others' as well, and take 32 at a time."""
SEATS = Slots()
SILENT_CODE, REFUSED_CODE, NOT_OURS_CODE = "host-silent", "host-refused", "brokers-of-others"
NOT_OURS_ALL = "Its brokers are run by others: their hosts know their logs and files."


def own_brokers(cluster: Cluster) -> list[Broker]:
    """Those that agents of ours run, by id. Raises Unavailable for a registered cluster."""
    if cluster.kind != MANAGED:
        raise Unavailable(NOT_OURS_ALL, code=NOT_OURS_CODE, retryable=False)
    return list(cluster.brokers.all())


def asked_broker(cluster: Cluster, broker: int) -> Broker:
    """Raises Unavailable for a registered cluster's, NotFound where nobody placed it."""
    if cluster.kind != MANAGED:
        raise Unavailable(NOT_OURS, code=NOT_OURS_CODE, retryable=False)
    row = cluster.brokers.filter(broker_id=broker).first()
    if row is None:
        raise NotFound("The broker was not found.")
    return row


def ask(cluster: Cluster, questions: list[HostQuestion]) -> list[HostAnswer]:
    """What the hosts of the cluster's brokers answer, within its tenant's share.

    Raises:
        TooManyRequests: so many of the tenant's questions are open already.
        Unavailable: ZooKeeper does not answer.
    """
    with _share(str(cluster.tenant_id), len(questions)):
        try:
            return hosts().ask(questions)
        except HostsUnavailableError as error:
            raise away(error) from error


@contextmanager
def _share(tenant_id: str, questions: int) -> Iterator[None]:
    bounds, taken = {tenant_id: OPEN_PER_TENANT}, 0
    try:
        while taken < questions:
            if not SEATS.take(bounds):
                raise TooManyRequests(
                    "Too many questions to your hosts are open; ask again in a moment.",
                    code="too-many-questions",
                )
            taken += 1
        yield
    finally:
        for _ in range(taken):
            SEATS.give_back(bounds)


def known(answer: HostAnswer) -> Answered:
    """Raises Unavailable: what is not known is never shown as empty. With `last_heard_at`, where a
    silent host was heard of.
    """
    if isinstance(answer, Unanswered):
        code = REFUSED_CODE if answer.is_refusal else SILENT_CODE
        since: dict[str, Any] = {}
        if answer.heard_at_ms is not None:
            since["last_heard_at"] = iso_of_ms(answer.heard_at_ms)
        raise Unavailable(answer.why, code=code, retryable=not answer.is_refusal, **since)
    return answer


def unreadable() -> Unavailable:
    return Unavailable(UNREADABLE, code=SILENT_CODE, retryable=False)
