"""The shapes of scheduled rebalances."""

from rest_framework import serializers

from controlplane.common.serializers import Shape, etag_field
from controlplane.healing.serializers import (
    HealingDecisionSerializer,
    MaintenanceWindowSerializer,
    check_zone,
    parts_field,
)
from controlplane.healing.windows import WINDOWS_MAX
from controlplane.reassignments.imbalance import THRESHOLD, THRESHOLD_MAX, THRESHOLD_MIN
from controlplane.reassignments.inputs import INT64_MAX, THROTTLE_MIN_BYTES_PER_S
from controlplane.reassignments.models import THROTTLE_BYTES_PER_S
from controlplane.reassignments.schedule_states import RUN_MOVES

PERCENT = "How far the furthest broker is from the mean, in percent of it; null: not known."


class RebalanceScheduleInputSerializer(Shape):
    enabled = serializers.BooleanField(help_text="Whether the cluster is rebalanced by itself.")
    threshold_percent = serializers.IntegerField(
        min_value=THRESHOLD_MIN,
        max_value=THRESHOLD_MAX,
        default=THRESHOLD,
        help_text="Above that, by bytes or by preferred leaders, something is moved.",
    )
    throttle_bytes_per_s = serializers.IntegerField(
        min_value=THROTTLE_MIN_BYTES_PER_S,
        max_value=INT64_MAX,
        default=THROTTLE_BYTES_PER_S,
        help_text="Of each broker, both ways.",
    )
    windows = serializers.ListField(
        child=MaintenanceWindowSerializer(),
        required=False,
        default=list,
        max_length=WINDOWS_MAX,
        help_text="When in a week one may begin; none: at any time. It goes on after the end.",
    )
    time_zone = serializers.CharField(max_length=100, default="UTC", validators=[check_zone])


class ScheduledRebalanceSerializer(Shape):
    id = serializers.CharField()
    state = serializers.ChoiceField(RUN_MOVES.states)
    operation_id = serializers.CharField()
    reason = serializers.CharField(help_text="Why it began, in English.")
    reason_parts = parts_field("reason")
    result = serializers.CharField(allow_null=True, help_text="null: under way.")
    bytes_before = serializers.FloatField(allow_null=True, help_text=PERCENT)
    bytes_after = serializers.FloatField(allow_null=True, help_text=PERCENT)
    leaders_before = serializers.FloatField(allow_null=True, help_text=PERCENT)
    leaders_after = serializers.FloatField(allow_null=True, help_text=PERCENT)
    began_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class RebalanceScheduleSerializer(Shape):
    enabled = serializers.BooleanField()
    threshold_percent = serializers.IntegerField()
    throttle_bytes_per_s = serializers.IntegerField()
    windows = MaintenanceWindowSerializer(many=True)
    time_zone = serializers.CharField()
    changed_at = serializers.DateTimeField(allow_null=True)
    changed_by = serializers.CharField(allow_null=True)
    window_open = serializers.BooleanField(help_text="Now.")
    window_opens_at = serializers.DateTimeField(allow_null=True)
    decision = HealingDecisionSerializer(
        allow_null=True, help_text="What the last look came to; null: there was none."
    )
    bytes_percent = serializers.FloatField(allow_null=True, help_text=PERCENT)
    leaders_percent = serializers.FloatField(allow_null=True, help_text=PERCENT)
    looked_at = serializers.DateTimeField(allow_null=True, help_text="When brokers were asked.")
    runs = ScheduledRebalanceSerializer(many=True, help_text="The newest first.")
    etag = etag_field()
