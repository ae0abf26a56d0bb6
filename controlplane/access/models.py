"""Two passwords of one user that stand beside each other, and until when."""

from django.db import models
from django.utils import timezone

from controlplane.clusters.models import Cluster
from controlplane.common.models import Stateful
from controlplane.common.transitions import Transitions
from controlplane.operations.models import Operation
from controlplane.tenants.models import Tenant

STANDING, HELD, ENDED = "standing", "held", "ended"
OVERLAP_MOVES = Transitions(
    "overlap",
    {
        STANDING: frozenset({HELD, ENDED}),
        HELD: frozenset({ENDED}),
        ENDED: frozenset(),
    },
)
OPEN_STATES = (STANDING, HELD)


class PasswordOverlap(Stateful):
    """What a rotation has left to do: the old password is removed when its time is over.

    `held`: both passwords stand, and the service does not end it by itself any more (`problem`).
    """

    moves = OVERLAP_MOVES
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    username = models.CharField(max_length=100)
    old_mechanism = models.CharField(max_length=20)
    new_mechanism = models.CharField(max_length=20)
    state = models.CharField(max_length=20, choices=OVERLAP_MOVES.choices, default=STANDING)
    rotation = models.OneToOneField(Operation, on_delete=models.CASCADE, related_name="overlap")
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
                condition=models.Q(state=STANDING),
                name="password_overlap_due",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "username"],
                condition=models.Q(state__in=OPEN_STATES),
                name="one_open_overlap_per_user",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=OVERLAP_MOVES.states), name="overlap_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.username} until {self.ends_at}: {self.state}"
