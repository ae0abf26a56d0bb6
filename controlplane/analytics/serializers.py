"""The shapes of this room's answers, for the OpenAPI document."""

from typing import Any

from rest_framework import serializers

from controlplane.analytics.models import TRIGGER_CHOICES
from controlplane.common.serializers import Shape, page_serializer
from controlplane.operations.states import ANALYTICS_RUN_STATE_CHOICES
from spark_analytics.contracts import Method, Risk, Status, Trend

STATUS_CHOICES = [(status.value, status.value) for status in Status]
TREND_CHOICES = [(trend.value, trend.value) for trend in Trend]
METHOD_CHOICES = [(method.value, method.value) for method in Method]
RISK_CHOICES = [(risk.value, risk.value) for risk in Risk]


class LagPointSerializer(Shape):
    group = serializers.CharField()
    topic = serializers.CharField()
    ts = serializers.DateTimeField()
    partitions = serializers.IntegerField()
    lag_records = serializers.IntegerField(allow_null=True)
    lag_seconds = serializers.FloatField(allow_null=True)
    lag_seconds_at_least = serializers.FloatField(allow_null=True)
    method = serializers.ChoiceField(METHOD_CHOICES, allow_null=True)
    trend = serializers.ChoiceField(TREND_CHOICES)
    trend_records_per_s = serializers.FloatField(allow_null=True)
    produce_records_per_s = serializers.FloatField(allow_null=True)
    consume_records_per_s = serializers.FloatField(allow_null=True)
    eta_seconds = serializers.FloatField(allow_null=True)
    lost_records = serializers.IntegerField(allow_null=True)
    members = serializers.IntegerField(allow_null=True)
    state = serializers.CharField(allow_null=True)
    status = serializers.ChoiceField(STATUS_CHOICES)


def _as_of(name: str, item: serializers.BaseSerializer[Any]) -> type[Shape]:
    """`{as_of, run_id, data}`; made by `type` because a serializer has a `data` of its own."""
    fields = {
        "as_of": serializers.DateTimeField(allow_null=True),
        "run_id": serializers.CharField(allow_null=True),
        "data": item,
    }
    return type(name, (Shape,), fields)


LagSerializer = _as_of("LagSerializer", LagPointSerializer(many=True))


class GroupExpirySerializer(Shape):
    group = serializers.CharField()
    oldest_unread_expires_in_s = serializers.FloatField(allow_null=True)
    first_loss_in_s = serializers.FloatField(allow_null=True)
    method = serializers.ChoiceField(METHOD_CHOICES, allow_null=True)
    lost_records = serializers.IntegerField()
    status = serializers.ChoiceField(RISK_CHOICES)


class TopicRetentionSerializer(Shape):
    topic = serializers.CharField()
    ts = serializers.DateTimeField()
    partitions = serializers.IntegerField()
    bytes = serializers.IntegerField(allow_null=True)
    records = serializers.IntegerField(allow_null=True)
    age_seconds = serializers.FloatField(allow_null=True)
    retention_ms = serializers.IntegerField(allow_null=True)
    retention_bytes = serializers.IntegerField(allow_null=True)
    groups = GroupExpirySerializer(many=True)


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
    message = serializers.CharField(required=False)


class RunClusterSerializer(Shape):
    cluster_id = serializers.CharField()
    offsets_end = serializers.DictField(child=serializers.IntegerField())
    records_in = serializers.IntegerField()
    records_rejected = serializers.IntegerField()
    error = serializers.CharField(allow_null=True)


class AnalyticsRunSerializer(Shape):
    id = serializers.CharField()
    state = serializers.ChoiceField(ANALYTICS_RUN_STATE_CHOICES)
    trigger = serializers.ChoiceField(TRIGGER_CHOICES)
    attempt = serializers.IntegerField()
    to = serializers.DateTimeField()
    progress = RunProgressSerializer()
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

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `from` is a word of the language and cannot be written as an attribute.
        return {**super().get_fields(), "from": serializers.DateTimeField()}


AnalyticsRunPageSerializer = page_serializer(AnalyticsRunSerializer)


class LagQuerySerializer(Shape):
    """What may stand behind the question mark; anything else that cannot be read is a 422."""

    group = serializers.CharField(required=False, max_length=255)
    topic = serializers.CharField(required=False, max_length=249)
    to = serializers.DateTimeField(required=False)
    latest = serializers.BooleanField(default=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), "from": serializers.DateTimeField(required=False)}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "from" in attrs and "to" in attrs and attrs["from"] > attrs["to"]:
            raise serializers.ValidationError({"from": "must not be after `to`"})
        return attrs
