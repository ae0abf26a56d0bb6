"""The shapes of this app's answers, for the OpenAPI document."""

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from controlplane.analytics.answers import EXPIRY, LAG_POINT, RETENTION, SOURCES
from controlplane.analytics.models import TRIGGER_CHOICES
from controlplane.common.serializers import Shape, page_serializer
from controlplane.operations.states import ANALYTICS_RUN_STATE_CHOICES
from spark_analytics.contracts.gold import GROUP_LAG, Column, ColumnType
from spark_analytics.contracts.runs import Job

JOB_CHOICES = [(job.value, job.value) for job in Job]
AnyField = serializers.Field[Any, Any, Any, Any]

_FIELDS: Mapping[ColumnType, type[AnyField]] = {
    ColumnType.STRING: serializers.CharField,
    ColumnType.INT: serializers.IntegerField,
    ColumnType.LONG: serializers.IntegerField,
    ColumnType.DOUBLE: serializers.FloatField,
}


def columns_shape(name: str, columns: Sequence[Column], **more: AnyField) -> type[Shape]:
    """A serializer of gold columns and of `more`."""
    return type(name, (Shape,), {column.name: _field(column) for column in columns} | more)


def _field(column: Column) -> AnyField:
    if column.choices:
        choices = [(choice.value, choice.value) for choice in column.choices]
        if column.several:
            return serializers.ListField(child=serializers.ChoiceField(choices))
        return serializers.ChoiceField(choices, allow_null=column.null)
    return _FIELDS[column.type](allow_null=column.null)


LagPointSerializer = columns_shape(
    "LagPointSerializer",
    LAG_POINT,
    ts=serializers.DateTimeField(),
    source=serializers.ChoiceField(SOURCES),
)


def _as_of(name: str, item: serializers.BaseSerializer[Any]) -> type[Shape]:
    """`{as_of, stale_after, run_id, data}`.

    Made by `type` because a serializer has a `data` of its own.
    """
    fields = {
        "as_of": serializers.DateTimeField(allow_null=True),
        "stale_after": serializers.DateTimeField(
            allow_null=True, help_text="Newer ones are due by then; later, these are old."
        ),
        "run_id": serializers.CharField(allow_null=True),
        "data": item,
    }
    return type(name, (Shape,), fields)


LagSerializer = _as_of("LagSerializer", LagPointSerializer(many=True))


class PacePointSerializer(Shape):
    """A group on a topic at one instant; null is unknown."""

    ts = serializers.DateTimeField()
    topic = serializers.CharField()
    lag_records = serializers.IntegerField(allow_null=True)
    produce_records_per_s = serializers.FloatField(allow_null=True)
    consume_records_per_s = serializers.FloatField(allow_null=True)
    oldest_unread_expires_in_s = serializers.FloatField(
        allow_null=True,
        help_text="Until retention may take the first record that was unread; null also when"
        " nothing was.",
    )


PaceSerializer = _as_of("PaceSerializer", PacePointSerializer(many=True))
GroupExpirySerializer = columns_shape(
    "GroupExpirySerializer",
    EXPIRY,
    loss_from=serializers.DateTimeField(allow_null=True),
    loss_until=serializers.DateTimeField(allow_null=True),
    source=serializers.ChoiceField(SOURCES),
)
TopicRetentionSerializer = columns_shape(
    "TopicRetentionSerializer",
    RETENTION,
    ts=serializers.DateTimeField(),
    groups=GroupExpirySerializer(many=True),
)
RetentionSerializer = _as_of("RetentionSerializer", TopicRetentionSerializer(many=True))


class CollectorSerializer(Shape):
    interval_s = serializers.FloatField()
    first_verdict_due_at = serializers.DateTimeField(allow_null=True)
    last_sample_at = serializers.DateTimeField(allow_null=True)
    took_ms = serializers.IntegerField()
    lateness_ms = serializers.IntegerField()
    slices = serializers.IntegerField()
    samples = serializers.IntegerField()
    failures = serializers.IntegerField()
    last_error = serializers.CharField(allow_null=True)


class RunProgressSerializer(Shape):
    ts_ms = serializers.IntegerField(required=False)
    phase = serializers.CharField(required=False)
    done = serializers.IntegerField(required=False)
    total = serializers.IntegerField(required=False)


class RunClusterSerializer(Shape):
    cluster_id = serializers.CharField()
    offsets_end = serializers.DictField(child=serializers.IntegerField())
    records_in = serializers.IntegerField()
    records_rejected = serializers.IntegerField()
    records_skipped = serializers.IntegerField(
        help_text="Offsets of the telemetry topic since the last run without a record."
    )
    telemetry_recreated = serializers.BooleanField(
        help_text="The telemetry topic is another than the last run's: what that lacked is unknown."
    )
    error = serializers.CharField(allow_null=True)


class AnalyticsRunSerializer(Shape):
    id = serializers.CharField()
    job = serializers.ChoiceField(JOB_CHOICES)
    state = serializers.ChoiceField(ANALYTICS_RUN_STATE_CHOICES)
    trigger = serializers.ChoiceField(TRIGGER_CHOICES)
    attempt = serializers.IntegerField()
    to = serializers.DateTimeField()
    progress = RunProgressSerializer()
    eta_s = serializers.FloatField(allow_null=True)
    cancel_requested = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    rows_in = serializers.IntegerField()
    rows_rejected = serializers.IntegerField()
    rows_out = serializers.IntegerField()
    wall_s = serializers.FloatField(allow_null=True)
    phases_s = serializers.DictField(child=serializers.FloatField())
    formula_version = serializers.IntegerField()
    error = serializers.CharField(allow_blank=True)
    clusters = RunClusterSerializer(many=True)

    def get_fields(self) -> dict[str, AnyField]:
        # `from` is a word of the language and cannot be written as an attribute.
        return {**super().get_fields(), "from": serializers.DateTimeField()}


AnalyticsRunPageSerializer = page_serializer(AnalyticsRunSerializer)


class RangeQuerySerializer(Shape):
    """What may stand behind the question mark; anything else that cannot be read is a 422."""

    to = serializers.DateTimeField(required=False)

    def get_fields(self) -> dict[str, AnyField]:
        return {**super().get_fields(), "from": serializers.DateTimeField(required=False)}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "from" in attrs and "to" in attrs and attrs["from"] > attrs["to"]:
            raise serializers.ValidationError({"from": "must not be after `to`"})
        return attrs


class LagQuerySerializer(RangeQuerySerializer):
    group = serializers.CharField(required=False, max_length=GROUP_LAG.column("group").length_max)
    topic = serializers.CharField(required=False, max_length=GROUP_LAG.column("topic").length_max)
    latest = serializers.BooleanField(default=False)


class PaceQuerySerializer(RangeQuerySerializer):
    topic = serializers.CharField(required=False, max_length=GROUP_LAG.column("topic").length_max)


JOBS_BY_HAND = (Job.HOURLY, Job.DAILY)


class BackfillSerializer(Shape):
    """Whole hours or days to compute again; from and to are rounded to them, outwards."""

    job = serializers.ChoiceField([(job.value, job.value) for job in JOBS_BY_HAND])
    to = serializers.DateTimeField()

    def get_fields(self) -> dict[str, AnyField]:
        return {**super().get_fields(), "from": serializers.DateTimeField()}


class BackfillAnswerSerializer(Shape):
    """A run of hours or days as operators of the platform see it."""

    id = serializers.CharField()
    job = serializers.ChoiceField(JOB_CHOICES)
    state = serializers.ChoiceField(ANALYTICS_RUN_STATE_CHOICES)
    trigger = serializers.ChoiceField(TRIGGER_CHOICES)
    requested_by = serializers.CharField(allow_blank=True)
    to = serializers.DateTimeField()
    attempt = serializers.IntegerField()
    progress = RunProgressSerializer()
    eta_s = serializers.FloatField(allow_null=True)
    cancel_requested = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    rows_out = serializers.IntegerField()
    wall_s = serializers.FloatField(allow_null=True)
    error = serializers.CharField(allow_blank=True)

    def get_fields(self) -> dict[str, AnyField]:
        return {**super().get_fields(), "from": serializers.DateTimeField()}


BackfillPageSerializer = page_serializer(BackfillAnswerSerializer)
