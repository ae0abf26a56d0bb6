"""Observed state: one row a cluster, and one a broker, topic, group, user and ACL of it.

A row holds what lists show (`row`) and what a page of its own shows beyond that (`detail`; of a
topic its partitions). Only what differs is written, so a row has no time of its own: it is as of
its section, unless the last pass could not read it.
"""

from django.db import models
from django.utils import timezone

from controlplane.common.models import Leased
from controlplane.observed.columns import OFFLINE_WEIGHT, RowNumber, flag, number
from controlplane.observed.sections import HEALTHS, KEY_MAX, UNKNOWN

HEALTH_CHOICES = [(health, health) for health in HEALTHS]


class ObservedCluster(Leased):
    """What is known of a cluster as a whole, and when each section of it was read.

    `sections` is by name: `as_of` (ISO; null: never read), `tried_at`, and why the last attempt
    did not read all of it: `reason`, `code`, `retriable`.
    """

    cluster = models.OneToOneField(
        "clusters.Cluster", on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    health = models.CharField(max_length=20, choices=HEALTH_CHOICES, default=UNKNOWN)
    reasons = models.JSONField(default=list)
    controller_id = models.IntegerField(null=True)
    summary = models.JSONField(null=True)
    sections = models.JSONField(default=dict)
    # What a topic's settings are while it sets nothing itself, by name; topics hold the rest.
    topic_defaults = models.JSONField(default=dict)
    due_at = models.DateTimeField(default=timezone.now, db_index=True)
    failures = models.PositiveIntegerField(default=0)
    took_ms = models.PositiveIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.health}"


class ObservedRow(models.Model):
    """One thing of a cluster.

    Attributes:
        key: what lists are ordered by and pages go on from.
        mark: hash of the content; a pass compares these and does not load the rest.
        as_of: when it was last read, of a row that the last pass could not read; else null.
        unread: why it could not.
        touched_at: when an operation's end read this row alone; an older pass leaves it.
        gone: it was touched and is no more; kept until a later pass has seen the same.
    """

    cluster = models.ForeignKey("clusters.Cluster", on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=KEY_MAX)
    row = models.JSONField()
    detail = models.JSONField(default=dict)
    mark = models.CharField(max_length=40)
    as_of = models.DateTimeField(null=True)
    unread = models.CharField(max_length=300, blank=True)
    touched_at = models.DateTimeField(null=True)
    gone = models.BooleanField(default=False)

    class Meta:
        abstract = True
        # Its index is the lists' order, search within a cluster, and paging.
        constraints = [
            models.UniqueConstraint(fields=["cluster", "key"], name="%(class)s_once"),
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.key}"


class ObservedBroker(ObservedRow):
    """Live, or named as a replica; the key is its id in ten digits.

    `detail.placement` is what it leads and holds of the same pass's topics; see `placement`.
    """


class ObservedTopic(ObservedRow):
    """`detail`: topic_id, its partitions as lists, the settings that it makes itself.

    `harm` is 0 while all replicas are in sync; one partition without a leader outweighs all others.
    """

    internal = flag("internal")
    partitions = number("partitions")
    replication_factor = number("replication_factor")
    records = number("records")
    size_bytes = number("size_bytes")
    retention_ms = number("retention_ms")
    harm = number(RowNumber("offline") * OFFLINE_WEIGHT + RowNumber("under_replicated"))

    class Meta(ObservedRow.Meta):
        # Most topics are equal in this; by what else there is the rows of a cluster are sorted.
        indexes = [models.Index(fields=["cluster", "-harm", "key"], name="topics_by_harm")]


class ObservedGroup(ObservedRow):
    """`detail`: members, and offsets by partition as lists."""

    members = number("members")
    lag = number("lag")
    coordinator = number("coordinator")


class ObservedUser(ObservedRow):
    pass


class ObservedAcl(ObservedRow):
    pass


class ObservedQuota(ObservedRow):
    """Of one entity: a user, a client id, an address, or a pair; null: of all without one."""


class ObservedReassignment(ObservedRow):
    """A partition that was being moved; its replicas without bytes, which no pass asks for."""
