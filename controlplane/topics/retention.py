"""topic.retention_lease, a longer retention for a set time, and topic.retention_restore, its end.

The operation ends when every broker has the longer retention; what is left to do is a row
(`models.RetentionLease`), so nothing is locked while the time runs. A sweep starts the restore.
"""

import time
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.utils import timezone

from controlplane.clusters.models import Cluster
from controlplane.clusters.unfinished import Unfinished
from controlplane.common.grants import Area, Verb
from controlplane.common.problems import Conflict
from controlplane.common.times import iso
from controlplane.gateway.port import BrokerView
from controlplane.operations.blast_radius import Extent
from controlplane.operations.details import Detail, detail_of
from controlplane.operations.models import Operation, Plan
from controlplane.operations.operations import (
    Done,
    Phase,
    PlanContext,
    PlanDraft,
    StepContext,
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import read_back, read_back_everywhere, verified_by
from controlplane.operations.risks import Risk
from controlplane.operations.states import SUCCEEDED
from controlplane.operations.summaries import Summary, summary_of
from controlplane.operations.warnings import warning_of
from controlplane.topics import rules
from controlplane.topics.inputs import RetentionLeaseInputs, RetentionRestoreInputs
from controlplane.topics.models import RESTORED, RESTORING, SUPERSEDED, RetentionLease
from controlplane.topics.operations_base import (
    TopicKind,
    not_seen,
    settings_not_seen,
    settings_unread,
    topic_settings,
)
from controlplane.topics.readings import Room, room_for
from controlplane.topics.refusals import fields_named
from controlplane.topics.room import Wanted
from controlplane.topics.rules import RETENTION_BYTES, RETENTION_MS
from controlplane.topics.selectors import (
    config_values,
    described_topic,
    held_extents,
    leased_row,
    open_leases,
)
from controlplane.topics.serializers import ConfigDiffSerializer, RetentionLeaseDiffSerializer
from controlplane.topics.services import (
    lease_begin,
    lease_end,
    lease_left,
    lease_not_restored,
    lease_restore_start,
    leases_due,
)

SEGMENT_BYTES = "segment.bytes"
SEGMENT_BYTES_DEFAULT = 1 << 30
NAMED_MAX = 10
"""Topics that a warning names; of the others it says how many."""


class RetentionLeaseBegin(TopicKind):
    """Hold a topic's records longer for a set time; on a topic with a lease, extend it."""

    name = "topic.retention_lease"
    restores = "retention.ms goes back at once to what it was before the lease"
    inputs = RetentionLeaseInputs
    diff_shape = RetentionLeaseDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway = self.gateway(context)
        topic = described_topic(gateway, inputs["name"])
        own, effective, _ = topic_settings(gateway, topic.name)
        standing = leased_row(context.cluster_id, topic.name, topic.topic_id)
        _check_extends(standing, inputs)
        own_before = standing.own_before if standing else own.get(RETENTION_MS)
        now_ms = rules.number_in(effective.get(RETENTION_MS))
        before_ms = standing.before_ms if standing else now_ms
        rules.check_lease(effective, inputs["retention_ms"], is_extension=standing is not None)
        wanted = {RETENTION_MS: str(inputs["retention_ms"])}
        with fields_named(wanted):
            gateway.alter_topic_configs(topic.name, wanted, validate_only=True)
        room = room_for(
            gateway,
            topic,
            _wanted(effective, inputs),
            now_ms=int(time.time() * 1000),
            bound_bytes=inputs.get("disk_bound_bytes"),
        )
        _check_fits(topic.name, room, inputs.get("disk_bound_bytes"))
        sees_disks = context.actor.scope.allows(Verb.READ, Area.CLUSTER, self.cluster_name(context))
        return PlanDraft(
            resource=f"topic/{topic.name}",
            diff={
                "before": {"configs": {RETENTION_MS: own.get(RETENTION_MS)}},
                "after": {"configs": wanted},
                "effective_before": {RETENTION_MS: effective.get(RETENTION_MS)},
                "effective_after": wanted,
                "restores_to": own_before,
                "restores_to_ms": before_ms,
                "for_s": inputs["for_s"],
                "extends": standing is not None,
                "disk": [_shown(asdict(row), sees_disks=sees_disks) for row in room.rows],
            },
            summary=_summary(topic.name, inputs, standing),
            preconditions={
                "configs": {RETENTION_MS: own.get(RETENTION_MS)},
                "topic_id": topic.topic_id,
                "lease": standing.operation_id if standing else None,
            },
            warnings=_lease_warnings(inputs, before_ms, effective, room),
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        gateway, name = self.gateway(context), plan.inputs["name"]
        own, _, _ = topic_settings(gateway, name)
        topic_id = described_topic(gateway, name).topic_id
        standing = leased_row(context.cluster_id, name, topic_id)
        return {
            "configs": {RETENTION_MS: own.get(RETENTION_MS)},
            "topic_id": topic_id,
            "lease": standing.operation_id if standing else None,
        }

    def alter(self, context: StepContext) -> Done:
        wanted = context.diff["after"]["configs"]
        self.gateway(context).alter_topic_configs(context.inputs["name"], wanted)
        return Done(detail=detail_of("retention/kept", kept_ms=context.inputs["retention_ms"]))

    def verify(self, context: StepContext) -> Done | Wait:
        return _verified(self, context, context.diff["after"]["configs"])

    def put_back(self, context: StepContext) -> Done | Wait:
        """What was there before, unless somebody has set another retention since."""
        gateway, name = self.gateway(context), context.inputs["name"]
        before, made = context.diff["before"]["configs"], context.diff["after"]["configs"]
        topic = gateway.describe_topics([name]).get(name)
        if topic is None or topic.topic_id != context.preconditions["topic_id"]:
            return Done(detail=detail_of("topic/gone"))
        own, _, _ = topic_settings(gateway, name)
        if own.get(RETENTION_MS) != made[RETENTION_MS] or before == made:
            return Done(detail=detail_of("back/as-before"))
        gateway.alter_topic_configs(name, before)
        return read_back(settings_not_seen([RETENTION_MS]))

    def finish(self, operation: Operation) -> None:
        if operation.state == SUCCEEDED:
            lease_begin(operation)
            return
        left = Operation.objects.values_list("remains", flat=True).get(pk=operation.pk)
        if left:
            lease_left(operation, (operation.error or {}).get("detail", ""))

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        operation = getattr(plan, "operation", None)
        lease = {"lease": operation.pk} if operation else {}
        return RetentionRestore.name, {"name": plan.inputs["name"], **lease}

    steps = (
        StepSpec(name="alter", title="Raise retention.ms", run=alter, restored_by=("put-back",)),
        verified_by(verify, deadline_s=120.0),
        StepSpec(
            name="put-back",
            title="Put retention.ms back",
            run=put_back,
            phase=Phase.RESTORE,
        ),
    )


class RetentionRestore(TopicKind):
    """Put retention.ms back to what it was before the topic's lease, which is over then."""

    name = "topic.retention_restore"
    final = "records that are deleted then do not come back; a new lease keeps those to come"
    inputs = RetentionRestoreInputs
    diff_shape = ConfigDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway = self.gateway(context)
        topic = described_topic(gateway, inputs["name"])
        row = leased_row(context.cluster_id, topic.name, topic.topic_id)
        if row is None:
            raise Conflict(f"{topic.name} has no retention lease.", code="no-lease")
        if inputs.get("lease", row.operation_id) != row.operation_id:
            raise Conflict(
                f"The lease of {inputs['lease']} is over or was extended: now it is that of"
                f" {row.operation_id}.",
                code="lease-ended",
            )
        if row.state == RESTORING:
            raise Conflict("The retention is being put back already.", code="lease-ending")
        _, effective, defaults = topic_settings(gateway, topic.name)
        after = rules.effective_after({RETENTION_MS: row.own_before}, defaults, effective)
        warnings = rules.update_warnings(
            before=effective, after=after, replication_factor=topic.replication_factor
        )
        loses = any(found.get("risk") == Risk.LOSES_DATA for found in warnings)
        return self.draft(
            row, warnings=warnings, extents=held_extents(gateway, topic) if loses else ()
        )

    def draft(
        self,
        row: RetentionLease,
        *,
        warnings: list[dict[str, Any]] | None = None,
        extents: list[Extent] | tuple[()] = (),
    ) -> PlanDraft:
        """Of what the row knows, and what a plan by hand has read beyond that."""
        held, before = str(row.held_ms), row.own_before
        before_ms = None if row.before_ms is None else str(row.before_ms)
        return PlanDraft(
            resource=f"topic/{row.topic}",
            diff={
                "before": {"configs": {RETENTION_MS: held}},
                "after": {"configs": {RETENTION_MS: before}},
                "effective_before": {RETENTION_MS: held},
                "effective_after": {RETENTION_MS: before_ms},
            },
            summary=_back(row.topic, row.before_ms),
            preconditions={"topic_id": row.topic_id, "lease": row.operation_id},
            warnings=warnings or [],
            blast_radius=list(extents),
        )

    def restore(self, context: StepContext) -> Done:
        """Only what the lease has set; what somebody else has set since stays."""
        gateway, name = self.gateway(context), context.inputs["name"]
        topic = gateway.describe_topics([name]).get(name)
        if topic is None or topic.topic_id != context.preconditions["topic_id"]:
            return _left(context, detail_of("topic/gone"))
        held = context.diff["before"]["configs"][RETENTION_MS]
        before = context.diff["after"]["configs"][RETENTION_MS]
        own, _, _ = topic_settings(gateway, name)
        if own.get(RETENTION_MS) not in {held, before}:
            return _left(context, detail_of("retention/others", value=own.get(RETENTION_MS)))
        if own.get(RETENTION_MS) != before:
            gateway.alter_topic_configs(name, {RETENTION_MS: before})
        if before is None:
            return Done(detail=detail_of("retention/own-removed"))
        return Done(detail=detail_of("retention/value", value=before))

    def verify(self, context: StepContext) -> Done | Wait:
        """With the answer of the last broker the lease is over, in the statement of its own."""
        operation, name = context.operation, context.inputs["name"]
        if "left" in context.memo:
            lease_end(operation.cluster_id, name, SUPERSEDED, context.memo["left"])
            return Done(detail=detail_of("retention/unchanged"))
        outcome = _verified(self, context, context.diff["after"]["configs"])
        if isinstance(outcome, Done):
            how = f"{operation.pk} put the retention back"
            lease_end(operation.cluster_id, name, RESTORED, how)
        return outcome

    def finish(self, operation: Operation) -> None:
        if operation.state != SUCCEEDED:
            problem = (operation.error or {}).get("detail", "")
            lease_not_restored(operation.cluster_id, operation.plan.inputs["name"], problem)

    steps = (
        StepSpec(
            name="restore",
            title="Put retention.ms back",
            run=restore,
            stays=detail_of("remains/retention"),
        ),
        verified_by(verify, deadline_s=120.0),
    )


def restore_due() -> int:
    """Start what ends the leases whose time is over; how many were started."""
    kind = RetentionRestore()
    return sum(lease_restore_start(row, kind.name, kind.draft(row)) for row in leases_due())


def leases_left(cluster: Cluster) -> Unfinished | None:
    """Retentions that nobody puts back once the cluster is let go."""
    rows = list(open_leases(cluster.pk).order_by("topic"))
    if not rows:
        return None
    named = ", ".join(f"{row.topic} ({rules.kept_for(row.held_ms)})" for row in rows[:NAMED_MAX])
    more = len(rows[NAMED_MAX:])
    return Unfinished(
        keys=tuple(row.operation_id for row in rows),
        warning=warning_of("retention-stays", names=named, more=more),
    )


def _verified(kind: TopicKind, context: StepContext, wanted: dict[str, str | None]) -> Done | Wait:
    """At every broker: the setting that the topic makes itself is as wanted."""
    name = context.inputs["name"]

    def differing(view: BrokerView, _broker: int) -> str | None:
        entries = view.topic_configs([name]).get(name)
        if entries is None:
            return settings_unread(name)
        own = config_values(entry for entry in entries if entry.source in rules.OWN_SOURCES)
        return not_seen(wanted, own)

    return read_back_everywhere(context, kind.gateway(context), differing)


def _left(context: StepContext, why: Detail) -> Done:
    context.memo["left"] = why[:200]
    return Done(detail=why)


def _check_extends(standing: RetentionLease | None, inputs: dict[str, Any]) -> None:
    if standing is None:
        return
    if standing.state == RESTORING:
        raise Conflict(
            f"The lease of {standing.topic} is over, and its retention is being put back. Begin a"
            " new one when that is done.",
            code="lease-ending",
        )
    ends_at = timezone.now() + timedelta(seconds=inputs["for_s"])
    if ends_at <= standing.ends_at or inputs["retention_ms"] < standing.held_ms:
        raise Conflict(
            f"{standing.topic} has a lease of {rules.kept_for(standing.held_ms)} until"
            f" {iso(standing.ends_at)[:19]}Z already: give a later end and no shorter retention to"
            " extend it.",
            code="lease-stands",
        )


def _wanted(effective: rules.Settings, inputs: dict[str, Any]) -> Wanted:
    return Wanted(
        keep_ms=inputs["retention_ms"],
        for_s=inputs["for_s"],
        retention_bytes=rules.number_in(effective.get(RETENTION_BYTES)),
        segment_bytes=rules.number_in(effective.get(SEGMENT_BYTES)) or SEGMENT_BYTES_DEFAULT,
    )


def _check_fits(name: str, room: Room, bound_bytes: int | None) -> None:
    """Raises Conflict `disk-bound` when a disk would be too full at the end."""
    full = [row for row in room.rows if row.fits is False]
    if not full:
        return
    over = [
        row for row in full if bound_bytes is not None and (row.bytes_at_end or 0) > bound_bytes
    ]
    where = ", ".join(f"broker {row.broker}" for row in full)
    why = (
        f"{name} would hold up to {max(row.bytes_at_end or 0 for row in over)} bytes there, and may"
        f" hold {bound_bytes}"
        if over
        else "less than 10 % of the disk would be left free there"
    )
    raise Conflict(
        f"At the end of the lease there is not enough disk space on {where}: {why}. Take a"
        " shorter time or a shorter retention, or free disk space first.",
        code="disk-bound",
        brokers=[row.broker for row in full],
    )


def _lease_warnings(
    inputs: dict[str, Any], before_ms: int | None, effective: rules.Settings, room: Room
) -> list[dict[str, Any]]:
    found = [_restores_itself(inputs["for_s"], before_ms)]
    if room.is_cut_by_size:
        found.append(
            warning_of("cut-by-size", size=rules.number_in(effective.get(RETENTION_BYTES)))
        )
    if room.gaps or not room.rows or any(row.fits is None for row in room.rows):
        found.append(
            warning_of(
                "disk-unknown",
                "danger",
                risk=Risk.FILLS_DISK,
                reasons="; ".join(room.gaps),
            )
            if room.gaps
            else warning_of("disk-unknown/no-places", "danger", risk=Risk.FILLS_DISK)
        )
    return found


def _restores_itself(for_s: int, before_ms: int | None) -> dict[str, Any]:
    if before_ms is not None and before_ms < 0:
        return warning_of("restores-itself/for-ever", "info", lease_s=for_s)
    return warning_of("restores-itself", "info", lease_s=for_s, before_ms=before_ms)


def _summary(name: str, inputs: dict[str, Any], standing: RetentionLease | None) -> Summary:
    kept_ms, lasting_s = inputs["retention_ms"], inputs["for_s"]
    if standing:
        return summary_of(
            "topic.retention_lease/extended", topic=name, kept_ms=kept_ms, lasting_s=lasting_s
        )
    return summary_of("topic.retention_lease", topic=name, kept_ms=kept_ms, lasting_s=lasting_s)


def _back(name: str, before_ms: int | None) -> Summary:
    if before_ms is not None and before_ms < 0:
        return summary_of("topic.retention_restore/for-ever", topic=name)
    return summary_of("topic.retention_restore", topic=name, before_ms=before_ms)


def _shown(row: dict[str, Any], *, sees_disks: bool) -> dict[str, Any]:
    """How large a broker's disk is, is for who sees the whole cluster."""
    hidden = {} if sees_disks else dict.fromkeys(("total_bytes", "usable_bytes", "usable_at_end"))
    return {**row, **hidden}
