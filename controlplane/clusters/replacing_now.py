"""A replacement that the service starts by itself: of a host that is drained, or is gone."""

from controlplane.audit.services import SYSTEM
from controlplane.clusters.models import Cluster
from controlplane.clusters.rebuild_limits import THROTTLE_BYTES_PER_S
from controlplane.clusters.replacing import KIND
from controlplane.clusters.replacing_rules import MOVE
from controlplane.common.problems import Conflict
from controlplane.gateway.errors import GatewayError
from controlplane.operations.models import Operation
from controlplane.operations.operations import PlanContext, required_kind
from controlplane.operations.services import announced_start


class OtherWayError(Conflict):
    """The broker's host is away, or there again: it would be replaced in another way."""

    code = "other-way"

    def __init__(self, broker_id: int, way: str) -> None:
        self.broker_id = broker_id
        what = "is away" if way == MOVE else "is there again"
        super().__init__(f"The host of broker {broker_id} {what}.")


def replace_now(cluster: Cluster, broker_id: int, *, way: str, reason: str) -> Operation:
    """Start it in this way and no other, by the same plan that a person would get.

    Raises:
        OtherWayError: its host is not as this way takes it.
        Problem: the plan is refused, the cluster does not answer, or another operation is in the
            way; nothing is stored.
    """
    inputs = {"broker": broker_id, "throttle_bytes_per_s": THROTTLE_BYTES_PER_S}
    context = PlanContext(tenant=cluster.tenant, cluster_id=cluster.id, actor=SYSTEM)
    try:
        draft = required_kind(KIND).plan(context, inputs)
    except GatewayError as error:
        raise error.as_problem() from error
    if draft.diff["way"] != way:
        raise OtherWayError(broker_id, way)
    return announced_start(
        tenant=cluster.tenant,
        kind_name=KIND,
        cluster_id=cluster.id,
        inputs=inputs,
        draft=draft,
        reason=reason,
    )
