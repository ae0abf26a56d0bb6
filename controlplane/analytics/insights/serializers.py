"""What may be asked of each analysis, and the shape of its answer."""

from typing import Any

from rest_framework import serializers

from controlplane.analytics import files
from controlplane.analytics.insights import charts
from controlplane.analytics.insights.impact import HOURS_DEFAULT, HOURS_MAX
from controlplane.analytics.insights.readiness import IDLE_S, NEEDS, State, Unit
from controlplane.analytics.insights.targets import SECONDS_MAX, SHARE_MAX, SHARE_MIN
from controlplane.analytics.serializers import AnyField, RangeQuerySerializer, columns_shape
from controlplane.common.serializers import Shape
from spark_analytics.contracts.analyses import Analysis
from spark_analytics.contracts.gold import GROUP_ROLLUP

BYTES_MAX = 2**62


class InsightQuerySerializer(RangeQuerySerializer):
    format: Any = serializers.ChoiceField(files.FORMATS, default=files.JSON)


class RetentionQuerySerializer(InsightQuerySerializer):
    retention_s = serializers.IntegerField(required=False, min_value=60, max_value=31 * 86_400)


class ObjectiveQuerySerializer(InsightQuerySerializer):
    group = serializers.CharField(
        required=False, max_length=GROUP_ROLLUP.column("group").length_max
    )
    seconds = serializers.FloatField(required=False, min_value=0, max_value=SECONDS_MAX)
    share = serializers.FloatField(required=False, min_value=SHARE_MIN, max_value=SHARE_MAX)


class ImpactQuerySerializer(InsightQuerySerializer):
    hours = serializers.IntegerField(default=HOURS_DEFAULT, min_value=1, max_value=HOURS_MAX)


class UnusedQuerySerializer(InsightQuerySerializer):
    idle_s = serializers.IntegerField(default=IDLE_S, min_value=3600, max_value=31 * 86_400)


class DiskQuerySerializer(InsightQuerySerializer):
    capacity_bytes = serializers.IntegerField(required=False, min_value=1, max_value=BYTES_MAX)


class AwaitedSerializer(Shape):
    analysis = serializers.ChoiceField(list(NEEDS))
    unit = serializers.ChoiceField(list(Unit))
    needed = serializers.IntegerField(help_text="Whole hours or days that it wants at the least.")
    have = serializers.IntegerField(help_text="Of those.")
    state = serializers.ChoiceField(list(State))
    first_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When the run begins that gives it the last one; null: ready,"
        " or nothing was sampled yet.",
    )


class ReadinessSerializer(Shape):
    cluster_id = serializers.CharField()
    cluster = serializers.CharField()
    observed_since = serializers.DateTimeField(
        allow_null=True, help_text="Of the first sample that anything is known of."
    )
    interval_s = serializers.IntegerField(help_text="Between samples.")
    hours = serializers.IntegerField(help_text="Added up so far, as far as any analysis counts.")
    days = serializers.IntegerField()
    data = AwaitedSerializer(many=True)  # type: ignore[assignment] # a field


class ReadinessListSerializer(Shape):
    complete = serializers.BooleanField(help_text="All clusters are there.")
    data = ReadinessSerializer(many=True)  # type: ignore[assignment] # a field


def answer_shape(analysis: Analysis, name: str) -> type[Shape]:
    row = columns_shape(f"{name}RowSerializer", analysis.columns)
    fields: dict[str, AnyField] = {
        "analysis": serializers.CharField(),
        "formula_version": serializers.IntegerField(),
        "inputs": serializers.ListField(child=serializers.CharField()),
        "as_of": serializers.DateTimeField(allow_null=True),
        "run_id": serializers.CharField(allow_null=True),
        "from": serializers.DateTimeField(allow_null=True),
        "to": serializers.DateTimeField(allow_null=True),
        "seen_share": serializers.FloatField(allow_null=True),
        "complete": serializers.BooleanField(),
        "data": row(many=True),
    }
    return type(f"{name}Serializer", (Shape,), fields)


class ChartQuerySerializer(RangeQuerySerializer):
    measure: Any = serializers.ChoiceField(list(charts.MEASURES), default=charts.MEASURE_DEFAULT)
    group = serializers.CharField(
        required=False, max_length=GROUP_ROLLUP.column("group").length_max
    )
    topic = serializers.CharField(
        required=False, max_length=GROUP_ROLLUP.column("topic").length_max
    )
    points = serializers.IntegerField(default=charts.POINTS_DEFAULT, min_value=10, max_value=1000)


def _numbers(help_text: str) -> serializers.ListField:
    return serializers.ListField(child=serializers.FloatField(allow_null=True), help_text=help_text)


class ChartSeriesSerializer(Shape):
    topic = serializers.CharField(allow_null=True)
    group = serializers.CharField(allow_null=True)
    typical = _numbers("Of each step: the mean of what is known; null where nothing is.")
    highest = _numbers("Of each step.")
    known = _numbers("Of each step: the share of its windows in which the measure is known.")


def _chart_shape() -> type[Shape]:
    # `data` and `from` cannot be written as attributes.
    fields: dict[str, AnyField] = {
        "measure": serializers.ChoiceField(list(charts.MEASURES)),
        "source": serializers.ChoiceField(charts.SOURCES),
        "formula_version": serializers.IntegerField(),
        "as_of": serializers.DateTimeField(allow_null=True),
        "from": serializers.DateTimeField(allow_null=True),
        "to": serializers.DateTimeField(allow_null=True),
        "step_s": serializers.IntegerField(),
        "complete": serializers.BooleanField(help_text="No series was left out."),
        "ts_ms": serializers.ListField(
            child=serializers.IntegerField(), help_text="The beginnings of the steps."
        ),
        "series": ChartSeriesSerializer(many=True),
    }
    return type("ChartSerializer", (Shape,), fields)


ChartSerializer = _chart_shape()
