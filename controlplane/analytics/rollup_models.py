"""The rollups in SQL: columns as in `contracts.gold`, by hour and by day in one table a series."""

from django.db import models

from spark_analytics.contracts.gold import NUMBER_CHARS, SHARD_PARTITIONS

PACKED_CHARS = SHARD_PARTITIONS * NUMBER_CHARS


class OfPeriod(models.Model):
    """One period of one series. `samples` of `expected` windows were seen."""

    cluster_id = models.CharField(max_length=40)
    period_s = models.IntegerField()
    ts_ms = models.BigIntegerField()
    sampled_ms = models.BigIntegerField()
    samples = models.IntegerField()
    expected = models.IntegerField()
    partitions = models.IntegerField()
    run_id = models.CharField(max_length=40)

    class Meta:
        abstract = True


class WithLag(models.Model):
    """How far behind, over the windows in which it is known."""

    lag_samples = models.IntegerField()
    lag_records_p50 = models.FloatField(null=True)
    lag_records_p95 = models.FloatField(null=True)
    lag_records_p99 = models.FloatField(null=True)
    lag_records_max = models.BigIntegerField(null=True)
    lag_records_last = models.BigIntegerField(null=True)
    time_lag_samples = models.IntegerField()
    lag_seconds_p50 = models.FloatField(null=True)
    lag_seconds_p95 = models.FloatField(null=True)
    lag_seconds_p99 = models.FloatField(null=True)
    lag_seconds_max = models.FloatField(null=True)
    lag_seconds_at_least_max = models.FloatField(null=True)

    class Meta:
        abstract = True


class WithHeld(models.Model):
    """Bytes of one replica, over the windows in which they are known."""

    bytes_samples = models.IntegerField()
    bytes_avg = models.FloatField(null=True)
    bytes_max = models.BigIntegerField(null=True)
    bytes_last = models.BigIntegerField(null=True)

    class Meta:
        abstract = True


class GoldGroupRollup(OfPeriod, WithLag):
    """One group on one topic."""

    group = models.CharField(max_length=255)
    topic = models.CharField(max_length=249)
    worst_partition = models.IntegerField(null=True)
    worst_partition_lag_records = models.BigIntegerField(null=True)
    records_in = models.BigIntegerField(null=True)
    records_out = models.BigIntegerField(null=True)
    bytes_out = models.BigIntegerField(null=True)
    produce_records_per_s = models.FloatField(null=True)
    consume_records_per_s = models.FloatField(null=True)
    rewinds = models.IntegerField()
    lost_records = models.BigIntegerField(null=True)

    class Meta:
        db_table = "gold_group_rollup"
        constraints = [
            models.UniqueConstraint(
                fields=["cluster_id", "topic", "group", "period_s", "ts_ms"],
                name="gold_group_rollup_once",
            )
        ]
        indexes = [
            models.Index(fields=["cluster_id", "period_s", "ts_ms"], name="gold_group_rollup_range")
        ]

    def __str__(self) -> str:
        return f"{self.group} on {self.topic}, {self.period_s} s from {self.ts_ms}"


class GoldTopicRollup(OfPeriod, WithHeld):
    """One topic."""

    topic = models.CharField(max_length=249)
    start_offset = models.BigIntegerField(null=True)
    end_offset = models.BigIntegerField(null=True)
    records_in = models.BigIntegerField(null=True)
    bytes_in = models.BigIntegerField(null=True)
    produce_records_per_s = models.FloatField(null=True)
    resets = models.IntegerField()
    last_write_ms = models.BigIntegerField(null=True)
    retention_ms = models.BigIntegerField(null=True)
    retention_bytes = models.BigIntegerField(null=True)
    busiest_partition = models.IntegerField(null=True)
    busiest_share = models.FloatField(null=True)
    gini = models.FloatField(null=True)

    class Meta:
        db_table = "gold_topic_rollup"
        constraints = [
            models.UniqueConstraint(
                fields=["cluster_id", "topic", "period_s", "ts_ms"], name="gold_topic_rollup_once"
            )
        ]
        indexes = [
            models.Index(fields=["cluster_id", "period_s", "ts_ms"], name="gold_topic_rollup_range")
        ]

    def __str__(self) -> str:
        return f"{self.topic}, {self.period_s} s from {self.ts_ms}"


class GoldPartitionRollup(OfPeriod):
    """Some partitions of one topic, packed: a number each, with commas between (`packed`)."""

    topic = models.CharField(max_length=249)
    shard = models.IntegerField()
    partition = models.CharField(max_length=PACKED_CHARS)
    records_in = models.CharField(max_length=PACKED_CHARS)
    bytes_in = models.CharField(max_length=PACKED_CHARS)
    covered_ms = models.CharField(max_length=PACKED_CHARS)
    start_offset = models.CharField(max_length=PACKED_CHARS)
    end_offset = models.CharField(max_length=PACKED_CHARS)
    bytes_last = models.CharField(max_length=PACKED_CHARS)

    class Meta:
        db_table = "gold_partition_rollup"
        constraints = [
            models.UniqueConstraint(
                fields=["cluster_id", "topic", "shard", "period_s", "ts_ms"],
                name="gold_partition_rollup_once",
            )
        ]
        indexes = [
            models.Index(
                fields=["cluster_id", "period_s", "ts_ms"], name="gold_partition_rollup_range"
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic}/{self.shard}, {self.period_s} s from {self.ts_ms}"


class GoldClusterRollup(OfPeriod, WithLag, WithHeld):
    """One cluster as a whole."""

    topics = models.IntegerField()
    groups = models.IntegerField()
    records_in = models.BigIntegerField(null=True)
    bytes_in = models.BigIntegerField(null=True)
    records_out = models.BigIntegerField(null=True)
    bytes_out = models.BigIntegerField(null=True)
    lost_records = models.BigIntegerField(null=True)

    class Meta:
        db_table = "gold_cluster_rollup"
        constraints = [
            models.UniqueConstraint(
                fields=["cluster_id", "period_s", "ts_ms"], name="gold_cluster_rollup_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id}, {self.period_s} s from {self.ts_ms}"
