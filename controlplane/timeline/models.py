"""Events that nobody else keeps: what was observed to change, and deployments that were marked."""

from django.db import models

from controlplane.common.grants import Area
from controlplane.common.ids import new_id
from controlplane.tenants.models import Tenant
from controlplane.timeline.rules import STORED_CHOICES, TEXT_MAX_CHARS

SUBJECT_MAX = 510
"""`group/` before the longest name that is observed."""
AREA_CHOICES = [
    (str(area), str(area))
    for area in (Area.TENANT, Area.CLUSTER, Area.OUTLINE, Area.TOPIC, Area.GROUP)
]


def new_event_id() -> str:
    return new_id("ev")


class TimelineEvent(models.Model):
    """One thing that happened.

    Attributes:
        cluster_id: empty of a deployment that is about the whole tenant.
        area, name: what somebody has to see to read it; of an area that goes by cluster no name.
        subject: `topic/…`, `group/…`, `broker/…`; empty: the cluster or tenant.
        before, after: as `observed.changes.Change`.
        more: it stands for `count` others of the kind that are not kept one by one.
        not_before: when it was still otherwise, as far as anybody looked; `at`: when it was seen.
        by: who marked a deployment.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_event_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+")
    cluster_id = models.CharField(max_length=40, blank=True)
    kind = models.CharField(max_length=30, choices=STORED_CHOICES)
    area = models.CharField(max_length=20, choices=AREA_CHOICES)
    name = models.CharField(max_length=SUBJECT_MAX, blank=True)
    subject = models.CharField(max_length=SUBJECT_MAX, blank=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    count = models.PositiveIntegerField(default=1)
    more = models.BooleanField(default=False)
    text = models.CharField(max_length=TEXT_MAX_CHARS, blank=True)
    by = models.CharField(max_length=200, blank=True)
    not_before = models.DateTimeField(null=True)
    at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-at", "-id"], name="timeline_newest"),
            models.Index(fields=["tenant", "cluster_id", "-at", "-id"], name="timeline_cluster"),
            models.Index(fields=["at"], name="timeline_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.kind} {self.subject}"
