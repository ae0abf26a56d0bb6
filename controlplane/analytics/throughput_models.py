"""The last hours of throughput: where partitions stood at the last step, and rates by step."""

from django.db import models

OUTLINE, TOPICS, GROUPS, PARTITIONS = "outline", "topics", "groups", "partitions"
CONSUMED = "consumed"
"""What groups read of each partition."""
KIND_CHOICES = [(kind, kind) for kind in (OUTLINE, TOPICS, GROUPS, PARTITIONS, CONSUMED)]


class ThroughputState(models.Model):
    """Where one cluster's partitions and commits stood at the end of its newest step.

    Whoever samples next takes the differences to it, whichever process that is.
    """

    cluster_id = models.CharField(primary_key=True, max_length=40)
    ts_ms = models.BigIntegerField()
    # Positions: packed, names of clients hold what a text column does not take.
    positions = models.BinaryField()
    # Kinds with more series than are kept, so that none of them is.
    left_out = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"positions of {self.cluster_id} at {self.ts_ms}"


class ThroughputLayout(models.Model):
    """Which series stand in a block, in order; blocks of many steps share one."""

    cluster_id = models.CharField(max_length=40)
    mark = models.CharField(max_length=40)
    kind = models.CharField(max_length=12, choices=KIND_CHOICES)
    shard = models.PositiveIntegerField()
    shards = models.PositiveIntegerField()
    keys = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster_id", "mark"], name="analytics_throughput_layout_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.shard} of {self.shards} of {self.cluster_id}"


class ThroughputBlock(models.Model):
    """The rates of a layout's series over the step that ended in [ts_ms, ts_ms + step).

    Of the kind `consumed` they are counts by partition (`throughput.consumed`).
    """

    cluster_id = models.CharField(max_length=40)
    kind = models.CharField(max_length=12, choices=KIND_CHOICES)
    mark = models.CharField(max_length=40)
    ts_ms = models.BigIntegerField()
    rates = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster_id", "mark", "ts_ms"], name="analytics_throughput_block_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["cluster_id", "kind", "ts_ms"], name="analytics_throughput_block_old"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.cluster_id} at {self.ts_ms}"
