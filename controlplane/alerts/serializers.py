from typing import Any

from rest_framework import serializers

from controlplane.alerts.host_rules import HOST_RULE_CHOICES
from controlplane.alerts.models import MATCH_CHOICES, SUBJECT_MAX
from controlplane.alerts.overrides import Match, Resource
from controlplane.alerts.rules import RULE_CHOICES, SEVERITY_CHOICES, Reach
from controlplane.alerts.states import ACKNOWLEDGED, FIRING, RESOLVED
from controlplane.common.serializers import Shape, etag_field, page_serializer

CLUSTER_ID_MAX = 40
SHOWN_STATES = [FIRING, ACKNOWLEDGED, RESOLVED]
SILENCE_STATES = ["planned", "active", "over"]
NAMED_RESOURCES = [str(Resource.GROUP), str(Resource.TOPIC)]
REACH_CHOICES = [str(each) for each in Reach if each is not Reach.HOST]
"""Of tenants' rules."""


def rule_field(**options: Any) -> serializers.ChoiceField:
    return serializers.ChoiceField(RULE_CHOICES, **options)


def severity_field(**options: Any) -> serializers.ChoiceField:
    return serializers.ChoiceField(SEVERITY_CHOICES, **options)


class ConsequenceSerializer(Shape):
    rule = rule_field()
    count = serializers.IntegerField()


class _AlertShape(Shape):
    """What tenants' and operators' alerts have alike, but for the rule."""

    id = serializers.CharField()
    title = serializers.CharField()
    runbook = serializers.CharField()
    state = serializers.ChoiceField(SHOWN_STATES)
    severity = severity_field()
    summary = serializers.CharField()
    values = serializers.DictField(
        child=serializers.JSONField(), help_text="The numbers by which it holds; null: not known."
    )
    members = serializers.ListField(child=serializers.CharField(), help_text="The first 50.")
    member_count = serializers.IntegerField()
    unit = serializers.CharField(allow_blank=True)
    unknown = serializers.BooleanField(help_text="It could not be asked now, and stays.")
    clearing = serializers.BooleanField(help_text="It holds no more, not yet for long enough.")
    times_fired = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    fired_at = serializers.DateTimeField(allow_null=True)
    acknowledged_at = serializers.DateTimeField(allow_null=True)
    acknowledged_by = serializers.CharField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    resolved_at = serializers.DateTimeField(allow_null=True)
    etag = etag_field()


class AlertSerializer(_AlertShape):
    rule = rule_field()
    cluster_id = serializers.CharField(allow_null=True, help_text="null: it is the tenant's.")
    cluster = serializers.CharField(allow_null=True)
    subject = serializers.CharField(
        allow_blank=True, help_text="group/…, topic/…, operation/…; empty: the cluster or tenant."
    )
    consequences = ConsequenceSerializer(many=True, help_text="What it explains.")
    silenced_by = serializers.CharField(allow_null=True)


class HostAlertSerializer(_AlertShape):
    rule = serializers.ChoiceField(HOST_RULE_CHOICES)
    host_id = serializers.CharField(allow_null=True, help_text="null: it is about several.")


class AlertTransitionSerializer(Shape):
    at = serializers.DateTimeField()
    before = serializers.CharField()
    after = serializers.CharField()
    severity = severity_field()
    by = serializers.CharField(allow_null=True)
    why = serializers.CharField()
    silenced_by = serializers.CharField(allow_null=True)
    event_id = serializers.CharField(allow_null=True, help_text="The alert's id in notifications.")


class AlertDetailSerializer(AlertSerializer):
    history = AlertTransitionSerializer(many=True)


class HostAlertDetailSerializer(HostAlertSerializer):
    history = AlertTransitionSerializer(many=True)


class AcknowledgementInputSerializer(Shape):
    note = serializers.CharField(max_length=500, allow_blank=True)


class ThresholdSerializer(Shape):
    name = serializers.CharField()
    unit = serializers.CharField()
    what = serializers.CharField()
    default = serializers.FloatField(allow_null=True)
    value = serializers.FloatField(allow_null=True)
    least = serializers.FloatField()
    most = serializers.FloatField()


class AlertRuleSerializer(Shape):
    id = rule_field()
    title = serializers.CharField()
    severity = severity_field()
    runbook = serializers.CharField()
    reach = serializers.ChoiceField(REACH_CHOICES, help_text="What one alert is about.")
    for_s = serializers.FloatField(help_text="Seconds that it must hold.")
    clear_s = serializers.FloatField(help_text="Seconds that it must be gone.")
    enabled = serializers.BooleanField()
    thresholds = ThresholdSerializer(many=True)
    overrides = serializers.ListField(child=serializers.CharField())


class AlertRuleListSerializer(Shape):
    data = AlertRuleSerializer(many=True)  # type: ignore[assignment] # a field here


class AlertOverrideSerializer(Shape):
    id = serializers.CharField()
    rule = rule_field()
    cluster_id = serializers.CharField(allow_null=True)
    resource = serializers.ChoiceField(NAMED_RESOURCES, allow_null=True)
    match = serializers.ChoiceField(MATCH_CHOICES)
    name = serializers.CharField(allow_blank=True)
    thresholds = serializers.DictField(child=serializers.FloatField())
    severity = severity_field(allow_null=True)
    enabled = serializers.BooleanField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    etag = etag_field()


class AlertOverrideChangeSerializer(Shape):
    thresholds = serializers.DictField(
        child=serializers.FloatField(), help_text="By name; none where another thing is set."
    )
    severity = severity_field(allow_null=True, default=None)
    enabled = serializers.BooleanField(
        allow_null=True, default=None, help_text="false: the rule is not asked there."
    )
    note = serializers.CharField(max_length=300, allow_blank=True, default="")


class AlertOverrideInputSerializer(AlertOverrideChangeSerializer):
    rule = rule_field()
    cluster_id = serializers.CharField(max_length=CLUSTER_ID_MAX, allow_null=True, default=None)
    resource = serializers.ChoiceField(NAMED_RESOURCES, allow_null=True, default=None)
    match = serializers.ChoiceField(MATCH_CHOICES, default=str(Match.LITERAL))
    name = serializers.CharField(max_length=255, allow_blank=True, default="")


class SilenceSerializer(Shape):
    id = serializers.CharField()
    rule = rule_field(allow_null=True)
    cluster_id = serializers.CharField(allow_null=True)
    match = serializers.ChoiceField(MATCH_CHOICES)
    subject = serializers.CharField(allow_blank=True)
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    reason = serializers.CharField()
    planned = serializers.BooleanField(help_text="A maintenance window: it starts by itself.")
    state = serializers.ChoiceField(SILENCE_STATES)
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    ended_by = serializers.CharField(allow_null=True)
    etag = etag_field()


class SilenceChangeSerializer(Shape):
    ends_at = serializers.DateTimeField()
    reason = serializers.CharField(max_length=300)


class SilenceInputSerializer(SilenceChangeSerializer):
    rule = rule_field(allow_null=True, default=None, help_text="null: any.")
    cluster_id = serializers.CharField(
        max_length=CLUSTER_ID_MAX, allow_null=True, default=None, help_text="null: any."
    )
    match = serializers.ChoiceField(MATCH_CHOICES, default=str(Match.LITERAL))
    subject = serializers.CharField(
        max_length=SUBJECT_MAX, allow_blank=True, default="", help_text="As alerts show it."
    )
    starts_at = serializers.DateTimeField(
        allow_null=True, default=None, help_text="null: now; later: a maintenance window."
    )


AlertPageSerializer = page_serializer(AlertSerializer)
HostAlertPageSerializer = page_serializer(HostAlertSerializer)
AlertOverridePageSerializer = page_serializer(AlertOverrideSerializer)
SilencePageSerializer = page_serializer(SilenceSerializer)
