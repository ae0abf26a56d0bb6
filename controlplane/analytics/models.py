"""Collector state, runs, and the gold tables that a run fills in one transaction."""

from django.db import models
from django.db.models import Q

from controlplane.analytics.objective_models import LagObjective
from controlplane.analytics.rollup_models import (
    GoldClusterRollup,
    GoldGroupRollup,
    GoldPartitionRollup,
    GoldTopicRollup,
)
from controlplane.analytics.throughput_models import (
    ThroughputBlock,
    ThroughputLayout,
    ThroughputState,
)
from controlplane.common.ids import new_id
from controlplane.common.models import Leased, Stateful
from controlplane.operations.states import (
    ANALYTICS_RUN_ACTIVE_STATES,
    ANALYTICS_RUN_MOVES,
    ANALYTICS_RUN_STATE_CHOICES,
    QUEUED,
)
from spark_analytics.contracts.runs import Job

__all__ = [
    "AnalyticsRun",
    "CollectorState",
    "GoldClusterRollup",
    "GoldGroupExpiry",
    "GoldGroupLag",
    "GoldGroupRollup",
    "GoldPartitionRollup",
    "GoldTopicRetention",
    "GoldTopicRollup",
    "GroupVerdict",
    "LagObjective",
    "RunCluster",
    "ThroughputBlock",
    "ThroughputLayout",
    "ThroughputState",
]
BY_SCHEDULE, BY_HAND = "schedule", "manual"
TRIGGER_CHOICES = [(BY_SCHEDULE, BY_SCHEDULE), (BY_HAND, BY_HAND)]


def new_run_id() -> str:
    return new_id("run")


class CollectorState(Leased):
    """The last sample of one cluster; the lease keeps two collectors apart."""

    cluster_id = models.CharField(primary_key=True, max_length=40)
    first_sample_at = models.DateTimeField(null=True)
    last_sample_at = models.DateTimeField(null=True)
    last_started_at = models.DateTimeField(null=True)
    took_ms = models.PositiveIntegerField(default=0)
    # How much later than one interval after the one before this sample began.
    lateness_ms = models.PositiveIntegerField(default=0)
    slices = models.PositiveIntegerField(default=0)
    samples = models.PositiveBigIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=400, blank=True)
    # What the verdicts that stand there say, without their instants, and the sample that they are
    # all by; empty: that is not known.
    verdicts_revision = models.CharField(max_length=40, blank=True)
    verdicts_sampled_ms = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"collector of {self.cluster_id}"


class AnalyticsRun(Stateful, Leased):
    """One Spark run. Its process is found again by `host` and the pid file in `work_dir`."""

    moves = ANALYTICS_RUN_MOVES
    id = models.CharField(primary_key=True, max_length=40, default=new_run_id)
    job = models.CharField(max_length=20, default=Job.TELEMETRY.value)
    state = models.CharField(max_length=20, choices=ANALYTICS_RUN_STATE_CHOICES, default=QUEUED)
    trigger = models.CharField(max_length=20, choices=TRIGGER_CHOICES)
    requested_by = models.CharField(max_length=200, blank=True)
    from_ts_ms = models.BigIntegerField()
    to_ts_ms = models.BigIntegerField()
    # Where each cluster's windows begin, not before from_ts_ms.
    starts_ms = models.JSONField(default=dict)
    attempt = models.PositiveSmallIntegerField(default=0)
    host = models.CharField(max_length=200, blank=True)
    work_dir = models.TextField(blank=True)
    heartbeat_at = models.DateTimeField(null=True)
    deadline_at = models.DateTimeField(null=True)
    cancel_requested = models.BooleanField(default=False)
    progress = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    formula_version = models.PositiveSmallIntegerField(default=0)
    rows_in = models.BigIntegerField(default=0)
    rows_rejected = models.BigIntegerField(default=0)
    rows_out = models.BigIntegerField(default=0)
    wall_s = models.FloatField(null=True)
    phases_s = models.JSONField(default=dict)
    error = models.CharField(max_length=400, blank=True)

    class Meta:
        constraints = [
            # Two sessions on one checkpoint would fight; the database keeps them apart.
            models.UniqueConstraint(
                fields=["job"],
                condition=Q(state__in=ANALYTICS_RUN_ACTIVE_STATES),
                name="analytics_one_active_run",
            )
        ]
        indexes = [models.Index(fields=["state", "-id"], name="analytics_run_state")]

    def __str__(self) -> str:
        return f"{self.id} ({self.state})"


class RunCluster(models.Model):
    """What a run did for one cluster."""

    run = models.ForeignKey(AnalyticsRun, on_delete=models.CASCADE, related_name="clusters")
    cluster_id = models.CharField(max_length=40, db_index=True)
    offsets_end = models.JSONField(default=dict)
    records_in = models.BigIntegerField(default=0)
    records_rejected = models.BigIntegerField(default=0)
    records_skipped = models.BigIntegerField(default=0)
    telemetry_recreated = models.BooleanField(default=False)
    error = models.CharField(max_length=400, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "cluster_id"], name="analytics_run_cluster")
        ]

    def __str__(self) -> str:
        return f"{self.run_id}: {self.cluster_id}"


class GroupLag(models.Model):
    """How one group does on one topic at one sample; columns as in `contracts.gold`."""

    cluster_id = models.CharField(max_length=40)
    group = models.CharField(max_length=255)
    topic = models.CharField(max_length=249)
    sampled_ms = models.BigIntegerField()
    partitions = models.IntegerField()
    lag_records = models.BigIntegerField(null=True)
    uncommitted_partitions = models.IntegerField(null=True)
    uncommitted_records = models.BigIntegerField(null=True)
    lag_seconds = models.FloatField(null=True)
    lag_seconds_at_least = models.FloatField(null=True)
    method = models.CharField(max_length=20, null=True)  # noqa: DJ001 - null is "unknown", as in the contract
    trend = models.CharField(max_length=20)
    trend_records_per_s = models.FloatField(null=True)
    produce_records_per_s = models.FloatField(null=True)
    consume_records_per_s = models.FloatField(null=True)
    eta_seconds = models.FloatField(null=True)
    lost_records = models.BigIntegerField(null=True)
    members = models.IntegerField(null=True)
    state = models.CharField(max_length=40, null=True)  # noqa: DJ001 - see method
    status = models.CharField(max_length=20)
    reasons = models.CharField(max_length=22, blank=True, default="")

    class Meta:
        abstract = True


class GoldGroupLag(GroupLag):
    """One group on one topic in one window, by a run."""

    ts_ms = models.BigIntegerField()
    run_id = models.CharField(max_length=40)

    class Meta:
        db_table = "gold_group_lag"
        constraints = [
            models.UniqueConstraint(
                fields=["cluster_id", "group", "topic", "ts_ms"], name="gold_group_lag_once"
            )
        ]
        indexes = [models.Index(fields=["cluster_id", "ts_ms"], name="gold_group_lag_range")]

    def __str__(self) -> str:
        return f"{self.group} on {self.topic} at {self.ts_ms}"


class GoldTopicRetention(models.Model):
    """What one topic held in one window."""

    cluster_id = models.CharField(max_length=40)
    topic = models.CharField(max_length=249)
    ts_ms = models.BigIntegerField()
    sampled_ms = models.BigIntegerField()
    partitions = models.IntegerField()
    bytes = models.BigIntegerField(null=True)
    records = models.BigIntegerField(null=True)
    age_seconds = models.FloatField(null=True)
    retention_ms = models.BigIntegerField(null=True)
    retention_bytes = models.BigIntegerField(null=True)
    run_id = models.CharField(max_length=40)

    class Meta:
        db_table = "gold_topic_retention"
        constraints = [
            models.UniqueConstraint(
                fields=["cluster_id", "topic", "ts_ms"], name="gold_topic_retention_once"
            )
        ]
        indexes = [models.Index(fields=["cluster_id", "ts_ms"], name="gold_retention_range")]

    def __str__(self) -> str:
        return f"{self.topic} at {self.ts_ms}"


class GoldGroupExpiry(models.Model):
    """When retention takes what a group has not read, in one window."""

    cluster_id = models.CharField(max_length=40)
    topic = models.CharField(max_length=249)
    group = models.CharField(max_length=255)
    ts_ms = models.BigIntegerField()
    oldest_unread_expires_in_s = models.FloatField(null=True)
    first_loss_in_s = models.FloatField(null=True)
    method = models.CharField(max_length=20, null=True)  # noqa: DJ001 - null is "unknown", as in the contract
    lost_records = models.BigIntegerField()
    status = models.CharField(max_length=20)
    run_id = models.CharField(max_length=40)

    class Meta:
        db_table = "gold_group_expiry"
        constraints = [
            models.UniqueConstraint(
                fields=["cluster_id", "topic", "group", "ts_ms"], name="gold_group_expiry_once"
            )
        ]
        indexes = [models.Index(fields=["cluster_id", "ts_ms"], name="gold_expiry_range")]

    def __str__(self) -> str:
        return f"{self.group} on {self.topic} at {self.ts_ms}"


class GroupVerdict(GroupLag):
    """How one group does on one topic by the collector's newest sample; columns as in gold.

    Replaced with each sample. One that is older than the newest row of gold counts no more.
    """

    judged_at = models.DateTimeField()
    # How long a partition that is behind has stood still; none is behind: null.
    stuck_s = models.FloatField(null=True)
    risk = models.CharField(max_length=20)
    oldest_unread_expires_in_s = models.FloatField(null=True)
    first_loss_in_s = models.FloatField(null=True)
    expiry_method = models.CharField(max_length=20, null=True)  # noqa: DJ001 - null is "unknown"
    # Between which instants the first unread record is lost; unknown, or no loss foreseen: null.
    loss_from_ms = models.BigIntegerField(null=True)
    loss_until_ms = models.BigIntegerField(null=True)
    # By name of the fact, a list by partition number (`verdicts.by_partition`); null: not kept.
    by_partition = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster_id", "group", "topic"], name="analytics_group_verdict_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.group} on {self.topic}: {self.status}"
