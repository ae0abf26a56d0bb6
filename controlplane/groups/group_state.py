"""Whether a group is idle and its offsets are where a plan saw them: every kind on groups asks."""

from typing import Any

from controlplane.clusters.operations_base import ClusterOperationKind
from controlplane.common.problems import Conflict
from controlplane.common.words import counted
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import TP, CommittedOffset, partitions_by_tp
from controlplane.operations.models import Plan
from controlplane.operations.operations import StepFailedError

IDLE_STATES = frozenset({"Empty", "Dead"})
Targets = dict[TP, int | None]


class GroupOperationKind(ClusterOperationKind):
    """A kind that changes one group: one operation at a time on each."""

    def lock(self, plan: Plan) -> str | None:
        return f"{plan.cluster_id}:group/{plan.inputs['group']}"


def check_idle(gateway: ClusterGateway, group: str) -> bool:
    """Refuse while anybody reads in this group: a running consumer would undo the change.

    Answers whether there is such a group.
    """
    described = gateway.describe_groups([group]).get(group)
    if described is None or described.state in IDLE_STATES:
        return described is not None and described.state != "Dead"
    members = [
        {"member_id": member.member_id, "client_id": member.client_id, "host": member.host}
        for member in described.members
    ]
    raise Conflict(
        f"The group {group} is {described.state} with {counted(len(members), 'member')}; stop its"
        " consumers first.",
        code="group-active",
        members=members,
    )


def require_idle(gateway: ClusterGateway, group: str) -> bool:
    """`check_idle` within a step, which fails by it."""
    try:
        return check_idle(gateway, group)
    except Conflict as refusal:
        raise StepFailedError(refusal.code, refusal.detail, **refusal.extra) from refusal


def has_moved(partition: str, planned: int | None, now: int | None) -> StepFailedError:
    return StepFailedError(
        "plan-stale", f"{partition} was at {planned} in the plan and is at {now} now."
    )


def preconditions_of(offsets: Targets) -> dict[str, Any]:
    return {f"{tp.topic}-{tp.partition}": offset for tp, offset in sorted(offsets.items())}


def offset_of(committed: CommittedOffset | None) -> int | None:
    return committed.offset if committed else None


def partitions_of(gateway: ClusterGateway, topics: set[str]) -> set[TP]:
    return set(partitions_by_tp(gateway.describe_topics(topics).values()))
