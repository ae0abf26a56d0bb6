from django.db import models
from django.db.models import Q
from django.utils import timezone

from controlplane.clusters.models import Cluster
from controlplane.common.ids import new_id
from controlplane.common.models import Leased, Stateful
from controlplane.reassignments.imbalance import THRESHOLD
from controlplane.reassignments.schedule_states import RUN_MOVES, RUNNING

THROTTLE_BYTES_PER_S = 10 * 2**20


def new_run_id() -> str:
    return new_id("rb")


class ThrottleLease(models.Model):
    """The limit on replication of one operation: it ends when nobody renews it.

    The operation renews it while it moves data and releases it on every way out; beat releases
    what an operation could not. Brokers and topics are those that may have something of it.

    Attributes:
        bytes_per_s: per broker and direction, as asked for now; null for no limit.
        released_at: null while brokers may have it.
    """

    operation_id = models.CharField(max_length=40, unique=True)
    cluster_id = models.CharField(max_length=40)
    bytes_per_s = models.BigIntegerField(null=True)
    broker_ids = models.JSONField()
    topics = models.JSONField()
    expires_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"throttle of {self.operation_id}"


class RebalanceSchedule(Leased):
    """When one cluster is rebalanced by itself; without a row it is off.

    `decided_*` is what the last look came to, `bytes_percent` and `leaders_percent` how far the
    furthest broker was from the mean then; null: not known.
    """

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, primary_key=True, related_name="rebalance_schedule"
    )
    enabled = models.BooleanField(default=False)
    threshold_percent = models.PositiveIntegerField(default=THRESHOLD)
    throttle_bytes_per_s = models.BigIntegerField(default=THROTTLE_BYTES_PER_S)
    # [{"day", "begins", "minutes"}]; none: at any time.
    windows = models.JSONField(default=list)
    time_zone = models.CharField(max_length=100, default="UTC")
    changed_at = models.DateTimeField(null=True)
    changed_by = models.CharField(max_length=200, blank=True, default="")
    looked_at = models.DateTimeField(null=True)
    bytes_percent = models.FloatField(null=True)
    leaders_percent = models.FloatField(null=True)
    decided_code = models.CharField(max_length=40, blank=True, default="")
    decided_text = models.CharField(max_length=1000, blank=True, default="")
    # Its sentences; none: it was cut, or an earlier version wrote it.
    decided_parts = models.JSONField(default=list)
    decided_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"rebalance of {self.cluster_id}: {'on' if self.enabled else 'off'}"


class ScheduledRebalance(Stateful):
    """One that a schedule began: why, by which operation, and what it came to.

    The figures are as in `RebalanceSchedule`, before and after; null: not known.
    """

    moves = RUN_MOVES

    id = models.CharField(primary_key=True, max_length=40, default=new_run_id)
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="scheduled_rebalances"
    )
    state = models.CharField(max_length=20, default=RUNNING, choices=RUN_MOVES.choices)
    operation_id = models.CharField(max_length=40)
    reason = models.CharField(max_length=1000)
    reason_parts = models.JSONField(default=list)  # likewise
    result = models.CharField(max_length=1000, blank=True, default="")
    bytes_before = models.FloatField(null=True)
    leaders_before = models.FloatField(null=True)
    bytes_after = models.FloatField(null=True)
    leaders_after = models.FloatField(null=True)
    began_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-began_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster"], condition=Q(state=RUNNING), name="one_rebalance_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"{self.id} of {self.cluster_id}: {self.state}"
