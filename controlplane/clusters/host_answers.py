"""What of an agent's answer reaches a reader: what is known, or a problem that says what is not."""

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
from controlplane.common.problems import NotFound, Unavailable

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


def ask(questions: list[HostQuestion]) -> list[HostAnswer]:
    """Raises Unavailable while ZooKeeper does not answer."""
    try:
        return hosts().ask(questions)
    except HostsUnavailableError as error:
        raise Unavailable(f"ZooKeeper does not answer: {error}", code="zookeeper-away") from error


def known(answer: HostAnswer) -> Answered:
    """Raises Unavailable: what is not known is never shown as empty."""
    if isinstance(answer, Unanswered):
        code = REFUSED_CODE if answer.is_refusal else SILENT_CODE
        raise Unavailable(answer.why, code=code, retryable=not answer.is_refusal)
    return answer


def unreadable(host_id: str) -> Unavailable:
    return Unavailable(UNREADABLE.format(host=host_id), code=SILENT_CODE, retryable=False)
