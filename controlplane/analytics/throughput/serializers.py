"""Questions about throughput and the shapes of the answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from controlplane.analytics.serializers import AnyField
from controlplane.analytics.throughput.consumption import READERS_SHOWN, SERIES_MAX
from controlplane.analytics.throughput.drawing import MEASURES
from controlplane.analytics.throughput.offsets import RANGES
from controlplane.analytics.throughput.selectors import (
    BROKER,
    CLUSTER,
    GROUP,
    PARTITION,
    PERIOD_SOURCES,
    RANGES_S,
    SOURCES,
    SUBJECTS,
    TOPIC,
)
from controlplane.analytics.throughput.sparklines import NAMES_MAX
from controlplane.common.serializers import Shape
from spark_analytics.contracts.gold import GROUP_ROLLUP

POINTS_DEFAULT = 240
BROKER_MAX = PARTITION_MAX = 2**31 - 1
TOPIC_CHARS = GROUP_ROLLUP.column("topic").length_max or 0
GROUP_CHARS = GROUP_ROLLUP.column("group").length_max
LISTS = (TOPIC, GROUP, BROKER)
PARTITION_DIGITS = len(str(PARTITION_MAX))
_NAMED_BY = {TOPIC: "topic", PARTITION: "topic", GROUP: "group"}


class ThroughputQuerySerializer(Shape):
    of: Any = serializers.ChoiceField(SUBJECTS, default=CLUSTER)
    range: Any = serializers.ChoiceField(list(RANGES_S), default="1h")
    points = serializers.IntegerField(default=POINTS_DEFAULT, min_value=10, max_value=1000)
    broker = serializers.IntegerField(required=False, min_value=0, max_value=BROKER_MAX)
    partition = serializers.IntegerField(required=False, min_value=0, max_value=PARTITION_MAX)
    topic = serializers.CharField(required=False, max_length=TOPIC_CHARS)
    group = serializers.CharField(required=False, max_length=GROUP_CHARS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        name = _NAMED_BY.get(attrs["of"])
        if name is not None and name not in attrs:
            raise serializers.ValidationError({name: f"of={attrs['of']} needs it"})
        return attrs


class OffsetsQuerySerializer(Shape):
    topic = serializers.CharField(max_length=TOPIC_CHARS)
    partition = serializers.IntegerField(required=False, min_value=0, max_value=PARTITION_MAX)
    range: Any = serializers.ChoiceField(RANGES, default="7d")
    points = serializers.IntegerField(default=POINTS_DEFAULT, min_value=10, max_value=1000)


class SparklineQuerySerializer(Shape):
    of: Any = serializers.ChoiceField(LISTS)
    name = serializers.ListField(
        child=serializers.CharField(max_length=GROUP_CHARS), min_length=1, max_length=NAMES_MAX
    )


class PlaceField(serializers.CharField):
    """`topic/partition`, as (topic, partition)."""

    def to_internal_value(self, data: Any) -> Any:
        topic, slash, number = super().to_internal_value(data).rpartition("/")
        is_number = number.isascii() and number.isdecimal() and len(number) <= PARTITION_DIGITS
        if not (topic and slash and is_number) or int(number) > PARTITION_MAX:
            raise serializers.ValidationError("Write a topic, a slash, and a partition's number.")
        return topic, int(number)


class ConsumptionQuerySerializer(Shape):
    group = serializers.ListField(
        child=serializers.CharField(max_length=GROUP_CHARS, trim_whitespace=False),
        max_length=SERIES_MAX,
        required=False,
        default=list,
    )
    on = serializers.ListField(
        child=PlaceField(max_length=TOPIC_CHARS + 1 + PARTITION_DIGITS, trim_whitespace=False),
        min_length=1,
        max_length=SERIES_MAX,
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        groups, places = set(attrs["group"]), set(attrs["on"])
        if (len(groups) or READERS_SHOWN) * len(places) > SERIES_MAX:
            said = (
                f"At most {SERIES_MAX} series: groups (unnamed, {READERS_SHOWN}) times partitions"
            )
            raise serializers.ValidationError({"on": said})
        return attrs


def _numbers(help_text: str) -> serializers.ListField:
    return serializers.ListField(child=serializers.FloatField(allow_null=True), help_text=help_text)


def _series_shape() -> type[Shape]:
    fields: dict[str, AnyField] = {
        "broker": serializers.IntegerField(allow_null=True, help_text="As leader."),
        "topic": serializers.CharField(allow_null=True),
        "group": serializers.CharField(allow_null=True),
        "partition": serializers.IntegerField(allow_null=True),
        **{
            f"{measure}_per_s": _numbers(
                "Of each step, of what is known; null where nothing is."
                + ("" if measure.endswith("in") else " By the commits of consumer groups.")
            )
            for measure in MEASURES
        },
        "known": _numbers("Of each step: the share of partitions, or of time, that is known."),
    }
    return type("ThroughputSeriesSerializer", (Shape,), fields)


def _offsets(help_text: str) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.IntegerField(allow_null=True),
        help_text=f"{help_text} The last that is known of each step; null where nothing is.",
    )


_STALE = "Newer numbers are due before this; later than that, what is shown is old."


def _throughput_shape() -> type[Shape]:
    # `from` cannot be written as an attribute.
    fields: dict[str, AnyField] = {
        "of": serializers.ChoiceField(SUBJECTS),
        "range": serializers.ChoiceField(list(RANGES_S)),
        "source": serializers.ChoiceField(SOURCES),
        "as_of": serializers.DateTimeField(allow_null=True),
        "stale_after": serializers.DateTimeField(allow_null=True, help_text=_STALE),
        "from": serializers.DateTimeField(allow_null=True),
        "to": serializers.DateTimeField(allow_null=True),
        "step_s": serializers.IntegerField(),
        "complete": serializers.BooleanField(help_text="No series was left out."),
        "reason": serializers.CharField(allow_null=True, help_text="Why something is missing."),
        "ts_ms": serializers.ListField(
            child=serializers.IntegerField(), help_text="The beginnings of the steps."
        ),
        "series": _series_shape()(many=True, help_text="The busiest first, 50 at most."),
    }
    return type("ThroughputSerializer", (Shape,), fields)


ThroughputSerializer = _throughput_shape()


def _offsets_shape() -> type[Shape]:
    # As above.
    fields: dict[str, AnyField] = {
        "of": serializers.ChoiceField([TOPIC, PARTITION]),
        "range": serializers.ChoiceField(RANGES),
        "source": serializers.ChoiceField(PERIOD_SOURCES),
        "as_of": serializers.DateTimeField(allow_null=True),
        "stale_after": serializers.DateTimeField(allow_null=True, help_text=_STALE),
        "from": serializers.DateTimeField(allow_null=True),
        "to": serializers.DateTimeField(allow_null=True),
        "step_s": serializers.IntegerField(),
        "reason": serializers.CharField(allow_null=True, help_text="Why something is missing."),
        "ts_ms": serializers.ListField(
            child=serializers.IntegerField(), help_text="The beginnings of the steps."
        ),
        "start_offset": _offsets("Log start offset, of a topic added over its partitions."),
        "end_offset": _offsets("Log end offset, of a topic added over its partitions."),
        "bytes": _offsets("Held by one replica."),
    }
    return type("OffsetsSerializer", (Shape,), fields)


OffsetsSerializer = _offsets_shape()


class SparklineSerializer(Shape):
    name = serializers.CharField()
    values = _numbers("Records a second of each step; null where it is not known.")
    last = serializers.FloatField(allow_null=True, help_text="The newest that is known.")


class SparklinesSerializer(Shape):
    of = serializers.ChoiceField(LISTS)
    as_of = serializers.DateTimeField(allow_null=True)
    stale_after = serializers.DateTimeField(allow_null=True, help_text=_STALE)
    step_s = serializers.IntegerField()
    ts_ms = serializers.ListField(child=serializers.IntegerField())
    rows = SparklineSerializer(many=True, help_text="Of the names that are seen.")


class ConsumedSerializer(Shape):
    group = serializers.CharField()
    topic = serializers.CharField()
    partition = serializers.IntegerField()
    values = _numbers("Records a second of each step; null where it is not known.")
    last = serializers.FloatField(allow_null=True, help_text="The newest step's; null: not known.")


class ConsumptionSerializer(Shape):
    as_of = serializers.DateTimeField(allow_null=True)
    stale_after = serializers.DateTimeField(allow_null=True, help_text=_STALE)
    step_s = serializers.IntegerField()
    complete = serializers.BooleanField(help_text="No group was left out.")
    reason = serializers.CharField(allow_null=True, help_text="Why something is missing.")
    ts_ms = serializers.ListField(child=serializers.IntegerField())
    rows = ConsumedSerializer(many=True, help_text="Of the groups and topics that are seen.")
