"""What looks at clusters keep: settings of brokers, and since when something is otherwise."""

from django.db import models
from django.utils import timezone

from controlplane.clusters.models import Cluster
from controlplane.common.models import Leased
from controlplane.drift.differences import MARK_CHARS, TEXT_MAX


class DriftLook(Leased):
    """The last look at one cluster.

    Attributes:
        settings: by broker and key [value, source, hidden], of the keys that are desired.
        settings_at: when they were read; null: never.
        settings_reason: why they are old, or not of all brokers; empty: all were read.
        areas: by area when what it was compared with was read (ISO); an area that was not known is
            not in it.
        racks_of: the revisions of what was last looked through for racks, at `racks_at`.
    """

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    settings = models.JSONField(default=dict)
    settings_at = models.DateTimeField(null=True)
    settings_reason = models.CharField(max_length=300, blank=True)
    areas = models.JSONField(default=dict)
    racks_of = models.CharField(max_length=200, blank=True)
    racks_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return f"drift of {self.cluster_id}"


class DriftSighting(models.Model):
    """One difference that a look has seen, until one sees that it is mended.

    Attributes:
        mark: of the thing, as `differences.Difference.mark`.
        equal_at: when it was last seen as it was left; null: not known.
        seen_at: when it was first seen otherwise.
        changed_at: when it was first seen as it is now.
        who: as `who.who_of`.
        asked: how often audit logs were asked, while some of them could not be read.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    mark = models.CharField(max_length=MARK_CHARS)
    area = models.CharField(max_length=20)
    name = models.CharField(max_length=500)
    desired = models.CharField(max_length=TEXT_MAX, null=True)  # noqa: DJ001 - not set
    observed = models.CharField(max_length=TEXT_MAX, null=True)  # noqa: DJ001 - not set
    equal_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    who = models.JSONField()
    asked = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "mark"], name="one_sighting_a_difference")
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.area} {self.name}"
