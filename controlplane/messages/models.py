"""MaskRule: what of messages is hidden from whom. SchemaRegistry: where a cluster's schemas are."""

from django.db import models

from controlplane.clusters.models import Cluster
from controlplane.common.fields import SealedField
from controlplane.common.grants import Match
from controlplane.common.ids import new_id
from controlplane.messages.masking import Act, Part
from controlplane.tenants.models import Tenant

MATCH_CHOICES = [(match.value, match.value) for match in Match]
PART_CHOICES = [(part.value, part.value) for part in Part]
ACT_CHOICES = [(act.value, act.value) for act in Act]


def new_mask_id() -> str:
    return new_id("mk")


class MaskRule(models.Model):
    """`path`: fields with dots between them, or a header's name; empty: all of the part."""

    id = models.CharField(primary_key=True, max_length=40, default=new_mask_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="mask_rules")
    topic_match = models.CharField(max_length=10, choices=MATCH_CHOICES)
    topic_name = models.CharField(max_length=255, blank=True)
    part = models.CharField(max_length=10, choices=PART_CHOICES)
    path = models.CharField(max_length=500, blank=True)
    act = models.CharField(max_length=10, choices=ACT_CHOICES)
    see_through = models.JSONField(default=list)
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["tenant", "id"], name="masks_of_tenant")]

    def __str__(self) -> str:
        return f"{self.act} {self.part} {self.path} of {self.topic_match} {self.topic_name}"


class SchemaRegistry(models.Model):
    """Where a cluster's schemas are; `secrets_token` is sealed: password and nothing else."""

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, primary_key=True, related_name="schema_registry"
    )
    url = models.CharField(max_length=500)
    username = models.CharField(max_length=200, blank=True)
    ca_pem = models.TextField(blank=True)
    secrets_token = SealedField(blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.url} of {self.cluster_id}"
