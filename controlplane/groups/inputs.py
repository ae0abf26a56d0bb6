from typing import Any

from rest_framework import serializers

from controlplane.common.serializers import Shape
from controlplane.groups.offset_file import FILE_CHARS_MAX, OffsetFileError, parse
from controlplane.groups.rules import (
    COPY,
    DURATION,
    FILE,
    OFFSET,
    SHIFT,
    STRATEGIES,
    TIMESTAMP,
)

OFFSET_MAX = 2**62
PARTITION_MAX = 2**31 - 1
PARTITIONS_MAX = 10_000
DURATION_MAX_MS = 10 * 366 * 86_400_000
_WITH_VALUE = frozenset({TIMESTAMP, DURATION, SHIFT, OFFSET})


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
        help_text="timestamp: ms since 1970; duration: ms before now; shift: records, may be"
        " negative; offset: the offset.",
    )
    file = serializers.CharField(
        required=False,
        max_length=FILE_CHARS_MAX,
        help_text="For the strategy file, CSV as `kafka-consumer-groups.sh --export` writes it:"
        " topic,partition,offset, or with the group before them. It says which partitions.",
    )
    from_group = serializers.CharField(
        required=False,
        max_length=255,
        help_text="For the strategy copy: whose commits are taken. Without topics and partitions:"
        " wherever that group has one.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        strategy, value = attrs["strategy"], attrs.get("value")
        if strategy in _WITH_VALUE and value is None:
            raise serializers.ValidationError({"value": f"The strategy {strategy} needs it."})
        if strategy in _WITH_VALUE - {SHIFT} and value is not None and value < 0:
            raise serializers.ValidationError({"value": "must not be negative"})
        if strategy == DURATION and value is not None and value > DURATION_MAX_MS:
            raise serializers.ValidationError({"value": "is at most ten years"})
        _check_source(attrs)
        if attrs.get("topics") and attrs.get("partitions"):
            raise serializers.ValidationError("Give topics or partitions, not both.")
        return attrs


def _check_source(attrs: dict[str, Any]) -> None:
    """Of the strategies that name an offset for each partition."""
    strategy = attrs["strategy"]
    for name, of in (("file", FILE), ("from_group", COPY)):
        if strategy == of and not attrs.get(name):
            raise serializers.ValidationError({name: f"The strategy {strategy} needs it."})
        if strategy != of and attrs.get(name):
            raise serializers.ValidationError({name: f"The strategy {strategy} takes none."})
    if strategy == COPY and attrs["from_group"] == attrs["group"]:
        raise serializers.ValidationError({"from_group": "is the group itself"})
    if strategy != FILE:
        return
    if attrs.get("topics") or attrs.get("partitions"):
        raise serializers.ValidationError({"file": "says which partitions: name no others."})
    try:
        parse(attrs["file"], attrs["group"])
    except OffsetFileError as error:
        raise serializers.ValidationError({"file": str(error)}) from error


class GroupDeleteInputs(Shape):
    group = serializers.CharField(max_length=255)


class RestoredPartitionInputs(PartitionInputs):
    offset = serializers.IntegerField(min_value=0, max_value=OFFSET_MAX, allow_null=True)


class OffsetRestoreInputs(Shape):
    group = serializers.CharField(max_length=255)
    partitions = RestoredPartitionInputs(many=True, allow_empty=False, max_length=PARTITIONS_MAX)  # type: ignore[call-arg] # the list has it
