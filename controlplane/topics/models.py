"""A retention that is raised for a set time, and what it is put back to."""

from django.db import models
from django.utils import timezone

from controlplane.clusters.models import Cluster
from controlplane.common.models import Stateful
from controlplane.common.transitions import Transitions
from controlplane.operations.models import Operation
from controlplane.tenants.models import Tenant

ACTIVE, RESTORING = "active", "restoring"
RESTORED, SUPERSEDED, FAILED = "restored", "superseded", "failed"
LEASE_MOVES = Transitions(
    "retention lease",
    {
        ACTIVE: frozenset({RESTORING, RESTORED, SUPERSEDED, FAILED}),
        RESTORING: frozenset({ACTIVE, RESTORED, SUPERSEDED, FAILED}),
        RESTORED: frozenset(),
        SUPERSEDED: frozenset(),
        FAILED: frozenset(),
    },
)
OPEN_STATES = (ACTIVE, RESTORING)
REASON_MAX = 300


class RetentionLease(Stateful):
    """A topic's retention.ms, raised until `ends_at` and then put back by the service.

    `active`: it holds, or its end is tried again (`problem`); `restoring`: the operation that puts
    it back is under way; `restored`: it is read back; `superseded`: somebody else has set the
    retention or deleted the topic, so nothing is touched; `failed`: its cluster was let go.

    Attributes:
        operation: the one that began the lease, or extended it last.
        own_before: what the topic set itself; null: nothing, so a default held.
        before_ms: what held, in ms; -1: for ever; null: not known.
        held_ms: what holds under the lease.
    """

    moves = LEASE_MOVES
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    topic = models.CharField(max_length=249)
    topic_id = models.CharField(max_length=40, blank=True)
    state = models.CharField(max_length=20, choices=LEASE_MOVES.choices, default=ACTIVE)
    operation = models.OneToOneField(Operation, on_delete=models.CASCADE, related_name="lease")
    own_before = models.CharField(max_length=40, null=True)  # noqa: DJ001 - not set, not empty
    before_ms = models.BigIntegerField(null=True)
    held_ms = models.BigIntegerField()
    reason = models.CharField(max_length=REASON_MAX, blank=True)
    ends_at = models.DateTimeField()
    next_try_at = models.DateTimeField()
    tries = models.PositiveIntegerField(default=0)
    problem = models.TextField(blank=True)
    how_ended = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["next_try_at"],
                condition=models.Q(state=ACTIVE),
                name="retention_lease_due",
            ),
            models.Index(fields=["cluster", "-id"], name="retention_lease_newest"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "topic"],
                condition=models.Q(state__in=OPEN_STATES),
                name="one_open_lease_per_topic",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=LEASE_MOVES.states), name="lease_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.topic} until {self.ends_at}: {self.state}"
