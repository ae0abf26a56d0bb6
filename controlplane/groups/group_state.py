"""Whether a group is idle and its offsets are where a plan saw them: every kind on groups asks."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from controlplane.clusters.operations_base import ClusterOperationKind, Touched, cluster_of
from controlplane.common.grants import Area
from controlplane.common.problems import Conflict
from controlplane.common.words import counted
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import TP, CommittedOffset, partitions_by_tp
from controlplane.observed.sections import GROUPS
from controlplane.operations.details import detail_of
from controlplane.operations.locks import Resource
from controlplane.operations.models import Plan
from controlplane.operations.operations import Done, PlanContext, StepFailedError, Wait
from controlplane.operations.scopes import missing_role

CHECK_TITLE = "The group is empty and where the plan saw it"
MEMBER_ERRORS = frozenset(
    {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS", "NON_EMPTY_GROUP"}
)
IDLE_STATES = frozenset({"Empty", "Dead"})
Targets = dict[TP, int | None]
Inputs = dict[str, Any]
See = Callable[[Iterable[TP]], None]


class GroupOperationKind(ClusterOperationKind):
    """A kind that changes one group."""

    def lock_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        if resource is Resource.GROUP:
            return [plan.inputs["group"]]
        return super().lock_names(resource, plan)

    def touched(self, plan: Plan) -> Touched:
        return {GROUPS: [plan.inputs["group"]]}


def see_topics(context: PlanContext, tps: Iterable[TP]) -> None:
    """Before the brokers' word about partitions is passed on: their topics may be others' secret.

    Raises Forbidden, as whoever makes the plan would be told at its end.
    """
    scope, cluster = context.actor.scope, cluster_of(context).name
    if not all(scope.sees(Area.TOPIC, cluster, topic) for topic in {tp.topic for tp in tps}):
        raise missing_role(Area.TOPIC)


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


@contextlib.contextmanager
def last_guard() -> Iterator[None]:
    """The coordinator refuses a group that somebody joined after the check: the step fails."""
    try:
        yield
    except GatewayError as error:
        if error.code in MEMBER_ERRORS:
            raise StepFailedError(
                "group-active", detail_of("failed/group-active", error=error.code)
            ) from error
        raise


def require_unmoved(
    planned: Mapping[str, int | None],
    now: Mapping[str, int | None],
    *,
    target: Mapping[str, int | None] | None = None,
) -> None:
    """Fail the step when an offset is not where the plan saw it.

    Args:
        planned: offsets by `preconditions_of`; a name that is missing has no commit.
        now: the same, read again.
        target: where the operation takes them: an offset that is there is our own earlier try.
    """
    ours = planned if target is None else target
    more = now.keys() - planned.keys() - ours.keys()
    if more:
        # Who sees the plan need not see the topics that came since.
        raise StepFailedError(
            "plan-stale",
            detail_of("failed/more-commits", partitions=len(more)),
        )
    for name in sorted({*planned, *now}):
        if now.get(name) not in {planned.get(name), ours.get(name)}:
            raise StepFailedError(
                "plan-stale",
                detail_of(
                    "failed/commit-moved",
                    partition=name,
                    before=_offset(planned.get(name)),
                    after=_offset(now.get(name)),
                ),
            )


def _offset(offset: int | None) -> str | None:
    return None if offset is None else str(offset)


def put_offsets_back(
    gateway: ClusterGateway, group: str, before: Targets, after: Targets
) -> Done | Wait:
    """Undo within the operation: what is at `after` goes to `before`, the rest is left alone.

    A group that has members again reads on from where it is: its offsets are theirs.
    """
    committed = gateway.group_offsets([group]).get(group, {})
    ours = [tp for tp in sorted(before) if offset_of(committed.get(tp)) == after[tp] != before[tp]]
    there = partitions_of(gateway, {tp.topic for tp in ours}) if ours else set()
    gone = [tp for tp in ours if before[tp] is not None and tp not in there]
    ours = [tp for tp in ours if tp not in gone]
    if not ours:
        lost = detail_of("remains/commit-gone", group=group, partitions=len(gone))
        return Done(detail=detail_of("back/as-before"), remains=(lost,) if gone else ())
    try:
        require_idle(gateway, group)
        with last_guard():
            if kept := {tp: at for tp in ours if (at := before[tp]) is not None}:
                gateway.commit_group_offsets(
                    group, {tp: CommittedOffset(offset=at) for tp, at in kept.items()}
                )
            if dropped := [tp for tp in ours if before[tp] is None]:
                gateway.delete_group_offsets(group, dropped)
    except StepFailedError:
        what = detail_of("remains/offsets", group=group, partitions=len(ours))
        return Done(detail=detail_of("group/members-again"), remains=(what,))
    return Wait(detail=detail_of("offsets/not-seen", partitions=len(ours)))


def restoring(group: str, offsets: Targets) -> tuple[str, dict[str, Any]]:
    """(kind, inputs) of the plan that commits these offsets again."""
    rows = [
        {"topic": tp.topic, "partition": tp.partition, "offset": offset}
        for tp, offset in offsets.items()
    ]
    return "offset.restore", {"group": group, "partitions": rows}


def preconditions_of(offsets: Targets) -> dict[str, Any]:
    return {f"{tp.topic}-{tp.partition}": offset for tp, offset in sorted(offsets.items())}


def offset_of(committed: CommittedOffset | None) -> int | None:
    return committed.offset if committed else None


def partitions_of(gateway: ClusterGateway, topics: set[str]) -> set[TP]:
    return set(partitions_by_tp(gateway.describe_topics(topics).values()))
