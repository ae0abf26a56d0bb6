from typing import Any

from rest_framework import serializers

from controlplane.common.serializers import Shape
from controlplane.groups.rules import OFFSET, SHIFT, STRATEGIES, TIMESTAMP

OFFSET_MAX = 2**62
PARTITION_MAX = 2**31 - 1
PARTITIONS_MAX = 10_000


class PartitionInputs(Shape):
    topic = serializers.CharField(max_length=249)
    partition = serializers.IntegerField(min_value=0, max_value=PARTITION_MAX)


class OffsetResetInputs(Shape):
    group = serializers.CharField(max_length=255)
    topics = serializers.ListField(
        child=serializers.CharField(max_length=249),
        required=False,
        max_length=1_000,
        help_text="Without topics and partitions: every topic in which the group has a commit.",
    )
    partitions = PartitionInputs(many=True, required=False, max_length=PARTITIONS_MAX)  # type: ignore[call-arg] # the list has it
    strategy = serializers.ChoiceField(STRATEGIES)
    value = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=-OFFSET_MAX,
        max_value=OFFSET_MAX,
        help_text="timestamp: ms since 1970; shift: records, may be negative; offset: the offset.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        strategy, value = attrs["strategy"], attrs.get("value")
        if strategy in {TIMESTAMP, SHIFT, OFFSET} and value is None:
            raise serializers.ValidationError({"value": f"The strategy {strategy} needs it."})
        if strategy in {TIMESTAMP, OFFSET} and value is not None and value < 0:
            raise serializers.ValidationError({"value": "must not be negative"})
        if attrs.get("topics") and attrs.get("partitions"):
            raise serializers.ValidationError("Give topics or partitions, not both.")
        return attrs


class GroupDeleteInputs(Shape):
    group = serializers.CharField(max_length=255)


class RestoredPartitionInputs(PartitionInputs):
    offset = serializers.IntegerField(min_value=0, max_value=OFFSET_MAX, allow_null=True)


class OffsetRestoreInputs(Shape):
    group = serializers.CharField(max_length=255)
    partitions = RestoredPartitionInputs(many=True, allow_empty=False, max_length=PARTITIONS_MAX)  # type: ignore[call-arg] # the list has it
