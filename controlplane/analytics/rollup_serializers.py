"""The shapes of rollups, which follow from the contract."""

from typing import Any

from rest_framework import serializers

from controlplane.analytics import files
from controlplane.analytics.rollups import PERIODS, SERIES
from controlplane.analytics.serializers import RangeQuerySerializer, columns_shape
from controlplane.common.serializers import Shape
from spark_analytics.contracts.gold import GROUP_ROLLUP


def _answer(series: str, name: str) -> type[Shape]:
    row = columns_shape(
        f"{name}Serializer",
        SERIES[series].columns,
        ts=serializers.DateTimeField(),
        sampled_at=serializers.DateTimeField(),
    )
    fields = {
        "as_of": serializers.DateTimeField(allow_null=True),
        "run_id": serializers.CharField(allow_null=True),
        "formula_version": serializers.IntegerField(),
        "period_s": serializers.IntegerField(),
        "complete": serializers.BooleanField(),
        "data": row(many=True),
    }
    return type(f"{name}sSerializer", (Shape,), fields)


ClusterRollupsSerializer = _answer("cluster", "ClusterRollup")
TopicRollupsSerializer = _answer("topics", "TopicRollup")
GroupRollupsSerializer = _answer("groups", "GroupRollup")


class RollupQuerySerializer(RangeQuerySerializer):
    group = serializers.CharField(
        required=False, max_length=GROUP_ROLLUP.column("group").length_max
    )
    topic = serializers.CharField(
        required=False, max_length=GROUP_ROLLUP.column("topic").length_max
    )
    period: Any = serializers.ChoiceField(list(PERIODS), required=False)
    format: Any = serializers.ChoiceField(files.FORMATS, default=files.JSON)
