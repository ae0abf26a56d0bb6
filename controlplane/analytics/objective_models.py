"""The lag objectives that tenants set."""

from django.db import models

from controlplane.common.ids import new_id
from controlplane.tenants.models import Tenant

LITERAL, PREFIX = "literal", "prefix"
MATCH_CHOICES = [(LITERAL, LITERAL), (PREFIX, PREFIX)]
GROUP_MAX, TOPIC_MAX = 255, 249


def new_objective_id() -> str:
    return new_id("lo")


class LagObjective(models.Model):
    """`share` of the time a time lag of at most `seconds`, of the groups that it covers.

    Attributes:
        cluster_id: null for every cluster of the tenant.
        group: a name, or what names begin with; empty: every group.
        topic: empty for every topic.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_objective_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+")
    cluster_id = models.CharField(max_length=40, null=True)  # noqa: DJ001 - absent, not empty
    match = models.CharField(max_length=10, choices=MATCH_CHOICES, default=LITERAL)
    group = models.CharField(max_length=GROUP_MAX, blank=True)
    topic = models.CharField(max_length=TOPIC_MAX, blank=True)
    seconds = models.FloatField()
    share = models.FloatField()
    note = models.CharField(max_length=300, blank=True)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["tenant", "-id"], name="lag_objective_newest")]

    def __str__(self) -> str:
        return f"{self.id}: {self.group or 'every group'} within {self.seconds} s"
