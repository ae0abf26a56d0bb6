"""Destination ◄ Delivery: where a tenant, or the operators, want to be told, and each telling."""

from django.db import models
from django.utils import timezone

from controlplane.common.fields import SealedField
from controlplane.common.ids import new_id
from controlplane.common.models import Leased, Stateful
from controlplane.common.transitions import Transitions
from controlplane.notifications.events import EVENT_STATES, SEVERITIES, WARNING
from controlplane.notifications.kinds.table import KINDS
from controlplane.tenants.models import Tenant

KIND_CHOICES = [(kind, kind) for kind in KINDS]
SEVERITY_CHOICES = [(severity, severity) for severity in SEVERITIES]
EVENT_STATE_CHOICES = [(state, state) for state in EVENT_STATES]

PENDING, RETRYING, SENT, DEAD = "pending", "retrying", "sent", "dead"
DELIVERY_MOVES = Transitions(
    "delivery",
    {
        PENDING: frozenset({RETRYING, SENT, DEAD}),
        RETRYING: frozenset({SENT, DEAD}),
        SENT: frozenset(),
        DEAD: frozenset({PENDING}),
    },
)
DELIVERY_STATE_CHOICES = DELIVERY_MOVES.choices
OPEN_STATES = (PENDING, RETRYING)


Owner = Tenant | None
"""Whose destinations: a tenant's, or the operators' (null)."""


def owned(owner: Owner) -> models.Q:
    """Rows of this owner alone: null is the operators' own, and no wildcard."""
    return models.Q(tenant__isnull=True) if owner is None else models.Q(tenant=owner)


def new_destination_id() -> str:
    return new_id("nt")


def new_delivery_id() -> str:
    return new_id("nd")


class Destination(models.Model):
    """Where a tenant's alerts go; `secrets_token` is sealed and leaves the service nowhere else.

    Without a tenant it is the operators', and alerts about hosts go there; no tenant sees it.
    `rules` and `clusters` are lists of ids; empty: any. `failures` counts the failed attempts since
    the last one that was delivered.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_destination_id)
    tenant = models.ForeignKey(
        Tenant, on_delete=models.CASCADE, null=True, related_name="destinations"
    )
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=20, choices=KIND_CHOICES)
    enabled = models.BooleanField(default=True)
    min_severity = models.CharField(max_length=10, choices=SEVERITY_CHOICES, default=WARNING)
    rules = models.JSONField(default=list)
    clusters = models.JSONField(default=list)
    send_resolved = models.BooleanField(default=True)
    config = models.JSONField(default=dict)
    secrets_token = SealedField(blank=True)
    # Until then a webhook is signed with the secret of before as well.
    rotation_ends_at = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)
    last_sent_at = models.DateTimeField(null=True)
    last_failed_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="destination_name_once"),
            # Nulls are distinct to the constraint above.
            models.UniqueConstraint(
                fields=["name"],
                condition=models.Q(tenant__isnull=True),
                name="operators_destination_name_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.kind})"


class Delivery(Leased, Stateful):
    """One event on its way to one destination, whose tenant (or none) is its own.

    `ordinal` counts the events of an alert to a destination, and is their order. `attempts` counts
    all tries and is sent along; `tries` and `queued_at` begin anew when it is sent again by hand.
    """

    moves = DELIVERY_MOVES
    id = models.CharField(primary_key=True, max_length=40, default=new_delivery_id)
    tenant = models.ForeignKey(
        Tenant, on_delete=models.CASCADE, null=True, related_name="deliveries"
    )
    destination = models.ForeignKey(
        Destination, on_delete=models.CASCADE, related_name="deliveries"
    )
    alert_id = models.CharField(max_length=60)
    event_id = models.CharField(max_length=60)
    event_state = models.CharField(max_length=20, choices=EVENT_STATE_CHOICES)
    rule = models.CharField(max_length=100)
    severity = models.CharField(max_length=10, choices=SEVERITY_CHOICES)
    event = models.JSONField()
    ordinal = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=20, choices=DELIVERY_STATE_CHOICES, default=PENDING)
    attempts = models.PositiveIntegerField(default=0)
    tries = models.PositiveIntegerField(default=0)
    queued_at = models.DateTimeField(default=timezone.now)
    next_try_at = models.DateTimeField(default=timezone.now)
    tried_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=60, blank=True)
    error_text = models.CharField(max_length=300, blank=True)
    status = models.PositiveSmallIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["next_try_at"],
                condition=models.Q(state__in=OPEN_STATES),
                name="delivery_due",
            ),
            models.Index(fields=["destination", "alert_id", "ordinal"], name="delivery_order"),
            models.Index(fields=["tenant", "state"], name="delivery_of_tenant"),
            models.Index(fields=["ended_at"], name="delivery_ended"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["destination", "event_id"], name="event_once_a_destination"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=DELIVERY_MOVES.states), name="delivery_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} of {self.alert_id}: {self.state}"
