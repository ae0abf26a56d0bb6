"""What is to be done by itself, and what was: policies, cases, silences, drains."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from controlplane.clusters.models import Cluster
from controlplane.common.ids import new_id
from controlplane.common.models import Leased, Stateful
from controlplane.healing.rules import PER_DAY, REPLACE_AFTER_S
from controlplane.healing.states import CASE_MOVES, MODES, OFF, OPEN, WAITING


def new_case_id() -> str:
    return new_id("hc")


class HealingPolicy(Leased):
    """Of one cluster; without a row it is off. `decided_*` is what the last round came to."""

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, primary_key=True, related_name="healing"
    )
    mode = models.CharField(max_length=20, default=OFF, choices=[(mode, mode) for mode in MODES])
    replace_after_s = models.PositiveIntegerField(default=REPLACE_AFTER_S)
    per_day_max = models.PositiveSmallIntegerField(default=PER_DAY)
    # [{"day", "begins", "minutes"}]; none: at any time.
    windows = models.JSONField(default=list)
    time_zone = models.CharField(max_length=100, default="UTC")
    changed_at = models.DateTimeField(null=True)
    changed_by = models.CharField(max_length=200, blank=True, default="")
    decided_code = models.CharField(max_length=40, blank=True, default="")
    decided_text = models.CharField(max_length=1000, blank=True, default="")
    # Its sentences; none: it was cut, or an earlier version wrote it.
    decided_parts = models.JSONField(default=list)
    decided_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"healing of {self.cluster_id}: {self.mode}"


class HealingCase(Stateful):
    """One broker whose host is silent or lost, with the reason of its state."""

    moves = CASE_MOVES

    id = models.CharField(primary_key=True, max_length=40, default=new_case_id)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="healing_cases")
    broker_id = models.PositiveIntegerField()
    host_id = models.CharField(max_length=100)
    silent_since = models.DateTimeField(null=True)
    state = models.CharField(max_length=20, default=WAITING, choices=CASE_MOVES.choices)
    code = models.CharField(max_length=40)
    text = models.CharField(max_length=1000)
    parts = models.JSONField(default=list)  # likewise
    operation_id = models.CharField(max_length=40, blank=True, default="")
    by = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    moved_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster"], condition=Q(state__in=sorted(OPEN)), name="one_case_open"
            )
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id}-{self.broker_id}: {self.state}"


class HostSilence(models.Model):
    """Since when a host's agent is silent, as far as somebody has looked all the time."""

    host_id = models.CharField(primary_key=True, max_length=100)
    since = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.host_id}, silent"


class HostLook(models.Model):
    """One row: when hosts were looked at last."""

    looked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"hosts, looked at {self.looked_at}"


class HostDrain(Leased):
    """The brokers of a draining host on their way to others, one after another."""

    host_id = models.CharField(primary_key=True, max_length=100)
    began_at = models.DateTimeField(default=timezone.now)
    by = models.CharField(max_length=200)
    moved = models.PositiveIntegerField(default=0)
    operation_id = models.CharField(max_length=40, blank=True, default="")
    operation_about = models.CharField(max_length=200, blank=True, default="")
    waiting_for = models.CharField(max_length=1000, blank=True, default="")
    waiting_for_parts = models.JSONField(default=list)
    tried_at = models.DateTimeField(null=True)
    paused_at = models.DateTimeField(null=True)
    paused_by = models.CharField(max_length=200, blank=True, default="")
    ended_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"drain of {self.host_id}"


class _Follows(models.Model):
    """Brokers of a host that follow what its agent says, one cluster after another."""

    host_id = models.CharField(primary_key=True, max_length=100)
    by = models.CharField(max_length=200)
    began_at = models.DateTimeField(default=timezone.now)
    moved = models.PositiveIntegerField(default=0)
    operation_id = models.CharField(max_length=40, blank=True, default="")
    operation_about = models.CharField(max_length=200, blank=True, default="")
    waiting_for = models.CharField(max_length=1000, blank=True, default="")
    waiting_for_parts = models.JSONField(default=list)
    tried_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class HostAddressChange(Leased, _Follows):
    """They follow its new address."""

    address = models.CharField(max_length=100)

    def __str__(self) -> str:
        return f"{self.host_id} to {self.address}"


class HostZooKeeperChange(Leased, _Follows):
    """They follow its agent's new connect string to ZooKeeper, each with all of its cluster."""

    connect = models.CharField(max_length=1_000)

    def __str__(self) -> str:
        return f"{self.host_id} to {self.connect}"
