"""Alerts with their history, overrides, silences, and what the evaluator keeps between rounds."""

from django.db import models

from controlplane.alerts.host_rules import EVERY_RULE_CHOICES, PREFIX
from controlplane.alerts.overrides import Match, Resource
from controlplane.alerts.rules import RULE_CHOICES, SEVERITY_CHOICES
from controlplane.alerts.states import ALERT_MOVES, OPEN_STATES, PENDING, STATE_CHOICES
from controlplane.common.ids import new_id
from controlplane.common.models import Leased, Stateful
from controlplane.tenants.models import Tenant

SUBJECT_MAX = 300
HOST_AREA = "host"
MATCH_CHOICES = [(str(each), str(each)) for each in Match]
RESOURCE_CHOICES = [(str(each), str(each)) for each in Resource]


def new_alert_id() -> str:
    return new_id("al")


def new_override_id() -> str:
    return new_id("ao")


def new_silence_id() -> str:
    return new_id("si")


class Alert(Stateful):
    """One cause of trouble from its beginning to its end. Only the evaluator and people move it.

    Attributes:
        tenant: null of one about hosts, which are the operators': no tenant sees it.
        cluster_id: empty for one that is the tenant's or the operators'.
        subject: empty for the cluster, tenant or all hosts, else `group/…`, `topic/…`,
            `operation/…`, `host/…`.
        since: since when the condition holds; of a resolved one since when it holds again.
        started_at: when it began to hold; `fired_at`: the first time that it was raised.
        known_members: what it was about when it was raised, to tell what is new.
        touches: pairs [area, name] that a reader has to see; none: the whole cluster or tenant.
        told: the state that destinations know of; empty: none.
    """

    moves = ALERT_MOVES
    id = models.CharField(primary_key=True, max_length=40, default=new_alert_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, null=True, related_name="+")
    cluster_id = models.CharField(max_length=40, blank=True)
    cluster_name = models.CharField(max_length=100, blank=True)
    rule = models.CharField(max_length=40, choices=EVERY_RULE_CHOICES)
    subject = models.CharField(max_length=SUBJECT_MAX, blank=True)
    state = models.CharField(max_length=20, choices=STATE_CHOICES, default=PENDING)
    severity = models.CharField(max_length=10, choices=SEVERITY_CHOICES)
    summary = models.TextField()
    values = models.JSONField(default=dict)
    members = models.JSONField(default=list)
    member_count = models.PositiveIntegerField(default=0)
    unit = models.CharField(max_length=20, blank=True)
    known_members = models.JSONField(default=list)
    brokers = models.JSONField(default=list)
    consequences = models.JSONField(default=list)
    touches = models.JSONField(default=list)
    since = models.DateTimeField(null=True)
    clear_since = models.DateTimeField(null=True)
    unknown_since = models.DateTimeField(null=True)
    started_at = models.DateTimeField()
    fired_at = models.DateTimeField(null=True)
    times_fired = models.PositiveIntegerField(default=0)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.CharField(max_length=200, blank=True)
    note = models.CharField(max_length=500, blank=True)
    resolved_at = models.DateTimeField(null=True)
    silence_id = models.CharField(max_length=40, blank=True)
    told = models.CharField(max_length=20, blank=True)
    refreshed_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-id"], name="alert_tenant_newest"),
            models.Index(fields=["tenant", "state"], name="alert_tenant_state"),
            models.Index(fields=["state", "resolved_at"], name="alert_resolved"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "cluster_id", "rule", "subject"],
                condition=models.Q(state__in=OPEN_STATES),
                name="one_open_alert",
            ),
            # Nulls are distinct to the constraint above.
            models.UniqueConstraint(
                fields=["rule", "subject"],
                condition=models.Q(tenant__isnull=True, state__in=OPEN_STATES),
                name="one_open_alert_of_operators",
            ),
            models.CheckConstraint(
                condition=models.Q(tenant__isnull=True, cluster_id="", rule__startswith=PREFIX)
                | models.Q(models.Q(tenant__isnull=False), ~models.Q(rule__startswith=PREFIX)),
                name="alert_of_hosts_is_operators",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.rule} {self.subject} {self.state}"


def host_of(alert: Alert) -> str:
    """Of an alert about one host; empty of every other one."""
    area, _, name = alert.subject.partition("/")
    return name if area == HOST_AREA and alert.tenant_id is None else ""


class AlertTransition(models.Model):
    """One move of an alert, or a change of its severity (`before` and `after` are the same then).

    `event_id` is what destinations were told it as; empty: nobody was.
    """

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="transitions")
    at = models.DateTimeField()
    before = models.CharField(max_length=20)
    after = models.CharField(max_length=20)
    severity = models.CharField(max_length=10, choices=SEVERITY_CHOICES)
    by = models.CharField(max_length=200, blank=True)
    why = models.CharField(max_length=500, blank=True)
    silence_id = models.CharField(max_length=40, blank=True)
    event_id = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["pk"]
        # The timeline asks for the newest moves of a time.
        indexes = [models.Index(fields=["-at"], name="alert_moves_newest")]

    def __str__(self) -> str:
        return f"{self.alert_id}: {self.before} -> {self.after}"


class AlertOverride(models.Model):
    """What a tenant sets in place of a rule's defaults, for all of theirs or a part of it."""

    id = models.CharField(primary_key=True, max_length=40, default=new_override_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+")
    rule = models.CharField(max_length=40, choices=RULE_CHOICES)
    cluster_id = models.CharField(max_length=40, null=True)  # noqa: DJ001 - absent, not empty
    resource = models.CharField(max_length=10, choices=RESOURCE_CHOICES, blank=True)
    match = models.CharField(max_length=10, choices=MATCH_CHOICES, default=str(Match.LITERAL))
    name = models.CharField(max_length=255, blank=True)
    thresholds = models.JSONField(default=dict)
    severity = models.CharField(max_length=10, choices=SEVERITY_CHOICES, blank=True)
    enabled = models.BooleanField(null=True)
    note = models.CharField(max_length=300, blank=True)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["tenant", "-id"], name="alert_override_newest")]

    def __str__(self) -> str:
        return f"{self.id} {self.rule}"


class Silence(models.Model):
    """Alerts that nobody is told of for a while; planned in advance it is a maintenance window.

    Without a rule, a cluster or a subject it is about every one.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_silence_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+")
    rule = models.CharField(max_length=40, blank=True)
    cluster_id = models.CharField(max_length=40, null=True)  # noqa: DJ001 - absent, not empty
    match = models.CharField(max_length=10, choices=MATCH_CHOICES, default=str(Match.LITERAL))
    subject = models.CharField(max_length=SUBJECT_MAX, blank=True)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    reason = models.CharField(max_length=300)
    is_planned = models.BooleanField(default=False)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_by = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["tenant", "-id"], name="alert_silence_newest")]

    def __str__(self) -> str:
        return f"{self.id} until {self.ends_at}"


class Evaluator(Leased):
    """The one that evaluates; a single row. What the last round did is in it.

    `unknown` is by rule: at how many clusters or subjects nothing was known.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    took_ms = models.PositiveIntegerField(default=0)
    rounds = models.PositiveBigIntegerField(default=0)
    failed_tenants = models.PositiveIntegerField(default=0)
    conditions = models.PositiveIntegerField(default=0)
    unknown = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"evaluator of {self.finished_at}"


class BrokerTrack(models.Model):
    """What a broker held and how often it was started, lately: pairs [ISO time, number]."""

    cluster_id = models.CharField(max_length=40)
    broker_id = models.IntegerField()
    sizes = models.JSONField(default=list)
    starts = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster_id", "broker_id"], name="broker_track_once")
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id}-{self.broker_id}"


class BurnCount(models.Model):
    """Which lag objectives were being burnt when they were last counted on a cluster.

    Attributes:
        mark: of the window, the run and the objectives that it was counted by.
        sampled_ms: when that window was sampled.
        whole: no row was left out for being one too many.
    """

    cluster_id = models.CharField(primary_key=True, max_length=40)
    mark = models.CharField(max_length=64)
    sampled_ms = models.BigIntegerField()
    rows = models.JSONField(default=list)
    whole = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"{self.cluster_id} at {self.sampled_ms}"
