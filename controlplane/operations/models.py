"""Plan, Operation with its Steps and locks, the one-time secret, and the outbox."""

from django.db import models

from controlplane.common.fields import SealedField
from controlplane.common.ids import new_id
from controlplane.common.models import Leased, Stateful
from controlplane.operations.locks import EXCLUSIVE, Mode, Resource
from controlplane.operations.states import (
    OPERATION_MOVES,
    PENDING,
    PLAN_MOVES,
    PLAN_OPEN,
    PLAN_STATE_CHOICES,
    STATE_CHOICES,
    STEP_MOVES,
    STEP_PENDING,
    STEP_STATE_CHOICES,
    TERMINAL_STATES,
)
from controlplane.tenants.models import Tenant


def new_plan_id() -> str:
    return new_id("pl")


def new_operation_id() -> str:
    return new_id("op")


class Plan(Stateful):
    """What would be done and why it is safe or not; confirmed by its hash."""

    moves = PLAN_MOVES
    id = models.CharField(primary_key=True, max_length=40, default=new_plan_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    kind = models.CharField(max_length=60)
    cluster_id = models.CharField(max_length=40, null=True, db_index=True)  # noqa: DJ001 - absent, not empty
    resource = models.CharField(max_length=400)
    inputs = models.JSONField()
    diff = models.JSONField()
    impact = models.JSONField()
    preconditions = models.JSONField()
    secret_token = SealedField(blank=True)
    plan_hash = models.CharField(max_length=64)
    confirm_phrase = models.CharField(max_length=300, null=True)  # noqa: DJ001 - absent, not empty
    state = models.CharField(max_length=20, choices=PLAN_STATE_CHOICES, default=PLAN_OPEN)
    reverts = models.CharField(max_length=40, null=True)  # noqa: DJ001 - absent, not empty
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.id} {self.kind} {self.resource}"

    def leave_open(self, state: str) -> bool:
        """Move an open plan to one of its ends; False when another one was quicker."""
        return bool(Plan.move_all(Plan.objects.filter(pk=self.pk), state))


class Operation(Stateful, Leased):
    """A confirmed plan under way. Only the engine moves its state."""

    moves = OPERATION_MOVES
    id = models.CharField(primary_key=True, max_length=40, default=new_operation_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    plan = models.OneToOneField(Plan, on_delete=models.PROTECT, related_name="operation")
    kind = models.CharField(max_length=60)
    cluster_id = models.CharField(max_length=40, null=True, db_index=True)  # noqa: DJ001 - absent, not empty
    resource = models.CharField(max_length=400)
    state = models.CharField(max_length=20, choices=STATE_CHOICES, default=PENDING)
    rolling_back = models.BooleanField(default=False)
    memo = models.JSONField(default=dict)
    error = models.JSONField(null=True)
    # In English, and the same by codes: parts of each sentence. null: nobody noted it.
    remains = models.JSONField(default=list, null=True)
    remains_parts = models.JSONField(default=list)
    actor = models.CharField(max_length=200)
    reason = models.TextField(blank=True)
    reverts = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="reverted_by"
    )
    # Asked to stop between two things that it does one after the other, and by whom.
    paused_at = models.DateTimeField(null=True)
    paused_by = models.CharField(max_length=200, blank=True, default="")
    next_run_at = models.DateTimeField(auto_now_add=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-id"], name="operation_tenant_newest"),
            models.Index(
                fields=["next_run_at"],
                condition=~models.Q(state__in=sorted(TERMINAL_STATES)),
                name="operation_due",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=OPERATION_MOVES.states), name="operation_state_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.kind} {self.state}"


class Step(Stateful):
    moves = STEP_MOVES
    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="steps")
    index = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=60)
    title = models.CharField(max_length=200)
    phase = models.CharField(max_length=20)
    state = models.CharField(max_length=20, choices=STEP_STATE_CHOICES, default=STEP_PENDING)
    attempts = models.PositiveIntegerField(default=0)
    # In English, and the same by codes; no parts: a text that has none, as that of a problem.
    detail = models.TextField(blank=True)
    detail_parts = models.JSONField(default=list)
    progress_done = models.BigIntegerField(null=True)
    progress_total = models.BigIntegerField(null=True)
    unit = models.CharField(max_length=20, blank=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    @property
    def was_begun(self) -> bool:
        return self.started_at is not None

    class Meta:
        ordering = ["index"]
        constraints = [
            models.UniqueConstraint(fields=["operation", "index"], name="one_step_per_index")
        ]

    def __str__(self) -> str:
        return f"{self.operation_id}[{self.index}] {self.name} {self.state}"


LOCK_NAME_MAX = 300


class OperationLock(models.Model):
    """What an operation holds until it has ended; `locks` has the table, `services` takes them."""

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="locks")
    scope = models.CharField(max_length=40)
    resource = models.CharField(
        max_length=20, choices=[(str(each), str(each)) for each in Resource]
    )
    name = models.CharField(max_length=LOCK_NAME_MAX, blank=True)
    mode = models.CharField(max_length=10, choices=[(str(each), str(each)) for each in Mode])

    class Meta:
        ordering = ["resource", "name"]
        indexes = [models.Index(fields=["scope"], name="operation_lock_scope")]
        constraints = [
            models.UniqueConstraint(
                fields=["operation", "scope", "resource", "name"], name="one_lock_per_operation"
            ),
            # The services refuse first; this holds whatever they do.
            models.UniqueConstraint(
                fields=["scope", "resource", "name"],
                condition=models.Q(mode=str(EXCLUSIVE)),
                name="one_exclusive_holder",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.operation_id}: {self.resource} {self.name} {self.mode}"


class OperationSecret(models.Model):
    """A password that an operation made, sealed; readable once."""

    operation = models.OneToOneField(Operation, on_delete=models.CASCADE, related_name="secret")
    token = SealedField(blank=True)
    read_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"secret of {self.operation_id}"


class OutboxMessage(models.Model):
    """A task to start, written with the change that asks for it; deleted once Celery has it."""

    task = models.CharField(max_length=100)
    args = models.JSONField(default=list)
    countdown_s = models.FloatField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.task}{self.args}"
