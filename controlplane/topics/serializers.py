from rest_framework import serializers

from controlplane.common.serializers import PageSerializer, Shape
from controlplane.observed.serializers import ObservedRowSerializer, observed_page
from controlplane.observed.sighting_serializers import SightedSerializer
from controlplane.operations.diffs import ChangeDiffSerializer
from controlplane.topics.models import LEASE_MOVES


class DriftSerializer(SightedSerializer):
    field = serializers.CharField(help_text="partitions, replication_factor, or a setting.")
    desired = serializers.CharField(allow_null=True, help_text="null: a setting that is not set.")
    observed = serializers.CharField(allow_null=True)
    operation_id = serializers.CharField(help_text="The one that set the desired value last.")


class TopicRowSerializer(ObservedRowSerializer):
    name = serializers.CharField()
    internal = serializers.BooleanField()
    topic_id = serializers.CharField(allow_blank=True)
    partitions = serializers.IntegerField()
    replication_factor = serializers.IntegerField()
    under_replicated = serializers.IntegerField()
    offline = serializers.IntegerField()
    records = serializers.IntegerField(allow_null=True)
    size_bytes = serializers.IntegerField(allow_null=True)
    cleanup_policy = serializers.CharField(allow_null=True)
    retention_ms = serializers.IntegerField(allow_null=True)
    drift = DriftSerializer(many=True)


TopicRowPageSerializer = observed_page(TopicRowSerializer)


class PartitionSerializer(Shape):
    partition = serializers.IntegerField()
    leader = serializers.IntegerField(allow_null=True)
    leader_epoch = serializers.IntegerField()
    replicas = serializers.ListField(child=serializers.IntegerField())
    isr = serializers.ListField(child=serializers.IntegerField())
    log_start = serializers.IntegerField(allow_null=True)
    log_end = serializers.IntegerField(allow_null=True)
    size_bytes = serializers.IntegerField(allow_null=True)


class ConfigEntrySerializer(Shape):
    name = serializers.CharField()
    value = serializers.CharField(allow_null=True)
    source = serializers.CharField()  # type: ignore[assignment] # a field
    is_default = serializers.BooleanField()
    read_only = serializers.BooleanField()  # type: ignore[assignment] # a field
    sensitive = serializers.BooleanField()
    doc = serializers.CharField(allow_blank=True)


class TopicLeaseSerializer(Shape):
    until = serializers.DateTimeField()
    from_ms = serializers.IntegerField(allow_null=True, help_text="What it goes back to.")
    to_ms = serializers.IntegerField()
    state = serializers.CharField()
    operation_id = serializers.CharField()
    problem = serializers.CharField(allow_blank=True)


class TopicSerializer(ObservedRowSerializer):
    name = serializers.CharField()
    internal = serializers.BooleanField()
    topic_id = serializers.CharField(allow_blank=True)
    partitions = PartitionSerializer(many=True)
    configs = ConfigEntrySerializer(
        many=True, allow_null=True, help_text="null while they were never read."
    )
    size_bytes = serializers.IntegerField(allow_null=True)
    drift = DriftSerializer(many=True)
    lease = TopicLeaseSerializer(
        allow_null=True, help_text="A longer retention that ends by itself; null: there is none."
    )


class RetentionLeaseSerializer(Shape):
    topic = serializers.CharField()
    state = serializers.ChoiceField(LEASE_MOVES.choices)
    operation_id = serializers.CharField(help_text="The one that began it or extended it last.")
    held_ms = serializers.IntegerField(help_text="retention.ms under the lease.")
    before_ms = serializers.IntegerField(
        allow_null=True, help_text="What it goes back to; -1: for ever; null: the default."
    )
    reason = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    how_ended = serializers.CharField(allow_blank=True)
    tries = serializers.IntegerField(help_text="How often its end was tried.")
    problem = serializers.CharField(allow_blank=True, help_text="Why its end is tried again.")


class RetentionLeaseListSerializer(Shape):
    data = RetentionLeaseSerializer(many=True)  # type: ignore[assignment] # a field


class ConfigChangeSerializer(Shape):
    """One setting before and after an operation; null: the topic did not set it itself."""

    key = serializers.CharField()
    before = serializers.CharField(allow_null=True)
    after = serializers.CharField(allow_null=True)
    effective_before = serializers.CharField(allow_null=True, help_text="What held; null: unknown.")
    effective_after = serializers.CharField(allow_null=True)


class ConfigHistoryRowSerializer(Shape):
    operation_id = serializers.CharField()
    kind = serializers.CharField()
    at = serializers.DateTimeField(allow_null=True)
    actor = serializers.CharField()
    reason = serializers.CharField(allow_blank=True)
    undone_by = serializers.CharField(allow_null=True, help_text="The operation that undid it.")
    changes = ConfigChangeSerializer(many=True)


class ConfigHistorySerializer(Shape):
    data = ConfigHistoryRowSerializer(many=True)  # type: ignore[assignment] # a field
    complete = serializers.BooleanField(help_text="Whether there are no older ones than these.")


class ConfigDiffSerializer(ChangeDiffSerializer):
    """`before` and `after` are the topic's own settings, `effective_…` what then holds."""

    effective_before = serializers.DictField(child=serializers.CharField(allow_null=True))
    effective_after = serializers.DictField(child=serializers.CharField(allow_null=True))


class EmptiedPartitionSerializer(Shape):
    topic = serializers.CharField()
    partition = serializers.IntegerField()
    log_start = serializers.IntegerField()
    until = serializers.IntegerField(help_text="The first offset that stays.")
    records = serializers.IntegerField()


class HeldSerializer(Shape):
    records = serializers.IntegerField()
    bytes = serializers.IntegerField(allow_null=True, help_text="null: not every leader says.")


class EmptyDiffSerializer(Shape):
    """What goes: of each partition the records before `until`."""

    before = HeldSerializer()
    after = HeldSerializer()
    partitions = EmptiedPartitionSerializer(many=True)


class DiskRowSerializer(Shape):
    broker = serializers.IntegerField()
    log_dir = serializers.CharField()
    held_bytes = serializers.IntegerField(help_text="Of the topic, now.")
    bytes_at_end = serializers.IntegerField(allow_null=True, help_text="At most; null: not known.")
    total_bytes = serializers.IntegerField(allow_null=True)
    usable_bytes = serializers.IntegerField(allow_null=True)
    usable_at_end = serializers.IntegerField(allow_null=True)
    fits = serializers.BooleanField(allow_null=True, help_text="null: nobody can say.")


class RetentionLeaseDiffSerializer(ConfigDiffSerializer):
    restores_to = serializers.CharField(allow_null=True, help_text="null: its default.")
    restores_to_ms = serializers.IntegerField(allow_null=True)
    for_s = serializers.IntegerField()
    extends = serializers.BooleanField()
    disk = DiskRowSerializer(many=True)


SEGMENT_ROLES = ("current", "future")


class SegmentSerializer(Shape):
    base_offset = serializers.IntegerField()
    size_bytes = serializers.IntegerField(help_text="Of its records, without indexes.")
    modified_ms = serializers.IntegerField(help_text="By the host's clock.")
    role = serializers.ChoiceField(
        SEGMENT_ROLES, help_text="future: of the directory that the replica moves to."
    )


class SegmentDirectorySerializer(Shape):
    directory = serializers.CharField(allow_blank=True)
    role = serializers.ChoiceField(SEGMENT_ROLES)
    total = serializers.IntegerField(allow_null=True, help_text="Segments.")
    total_bytes = serializers.IntegerField(allow_null=True, help_text="Of all their records.")
    other_bytes = serializers.IntegerField(
        allow_null=True, help_text="Of indexes and whatever else is there."
    )


class SegmentPageSerializer(Shape):
    data = SegmentSerializer(many=True, help_text="The newest first.")  # type: ignore[assignment] # a field
    page = PageSerializer()
    broker = serializers.IntegerField()
    directories = SegmentDirectorySerializer(many=True)
    answered_at_ms = serializers.IntegerField(allow_null=True, help_text="By the host's clock.")
