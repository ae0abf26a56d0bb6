"""A runbook that somebody follows: what it is about, and what was looked at or planned."""

from django.db import models
from django.utils import timezone

from controlplane.common.ids import new_id
from controlplane.common.models import Stateful
from controlplane.common.transitions import Transitions
from controlplane.tenants.models import Tenant

OPEN = "open"
RESOLVED, UNRESOLVED, ESCALATED, ABANDONED = "resolved", "unresolved", "escalated", "abandoned"
RUN_MOVES = Transitions(
    "runbook run",
    {
        OPEN: frozenset({RESOLVED, UNRESOLVED, ESCALATED, ABANDONED}),
        RESOLVED: frozenset(),
        UNRESOLVED: frozenset(),
        ESCALATED: frozenset(),
        ABANDONED: frozenset(),
    },
)
OUTCOMES = (RESOLVED, UNRESOLVED, ESCALATED)
"""What somebody may say at its end; `abandoned` is what nobody has ended."""
PLANNED = "planned"
ENTRY_OUTCOMES = ("ok", "bad", "unknown", PLANNED)


def new_runbook_run_id() -> str:
    return new_id("rr")


class RunbookRun(Stateful):
    """`context` is what it is about, by parameter; `cluster_id` of it stands apart."""

    moves = RUN_MOVES
    id = models.CharField(primary_key=True, max_length=40, default=new_runbook_run_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    runbook = models.CharField(max_length=100)
    cluster_id = models.CharField(max_length=40, null=True)  # noqa: DJ001 - absent, not empty
    context = models.JSONField(default=dict)
    state = models.CharField(max_length=20, choices=RUN_MOVES.choices, default=OPEN)
    note = models.TextField(blank=True)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now)
    ended_by = models.CharField(max_length=200, blank=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-id"], name="runbook_run_newest"),
            models.Index(fields=["created_at"], name="runbook_run_age"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=RUN_MOVES.states), name="runbook_run_state_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.runbook} {self.state}"


class RunbookEntry(models.Model):
    """A check that was run, with what it said; or an act of which a plan was made."""

    run = models.ForeignKey(RunbookRun, on_delete=models.CASCADE, related_name="entries")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=60)
    outcome = models.CharField(max_length=20, choices=[(each, each) for each in ENTRY_OUTCOMES])
    text = models.TextField(blank=True)
    numbers = models.JSONField(default=dict)
    as_of = models.DateTimeField(null=True)
    took_ms = models.PositiveIntegerField(default=0)
    plan_id = models.CharField(max_length=40, null=True)  # noqa: DJ001 - absent, not empty
    actor = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.run_id}: {self.name} {self.outcome}"
