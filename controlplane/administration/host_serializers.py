"""The shapes of plans about hosts, and of where brokers would go and why."""

from rest_framework import serializers

from controlplane.administration.serializers import HOST_STATE_CHOICES, reason_field
from controlplane.clusters.host_states import ACTS, REMOVED
from controlplane.common.serializers import (
    IN_ENGLISH,
    SENTENCE,
    Shape,
    params_field,
    sentence_field,
)
from controlplane.operations.serializers import DetailPartSerializer, WarningSerializer

HOST_ACT_CHOICES = sorted(ACTS)


class HostRefusalSerializer(Shape):
    code = serializers.CharField()
    text = serializers.CharField(help_text=IN_ENGLISH)
    text_code = serializers.CharField(help_text=SENTENCE)
    params = params_field()


class HostMoveSerializer(Shape):
    broker_id = serializers.IntegerField()
    cluster = serializers.CharField()
    cluster_id = serializers.CharField()
    tenant = serializers.CharField()
    target_host_id = serializers.CharField(allow_null=True)
    reason = serializers.CharField(allow_null=True, help_text="Why there, in English.")
    reason_code = sentence_field("null: nowhere.")
    reason_params = params_field()
    why_nowhere = serializers.CharField(allow_null=True, help_text=IN_ENGLISH)
    why_nowhere_parts = DetailPartSerializer(
        many=True, help_text="The sentences of why_nowhere, one after the other."
    )


class HostPlanSerializer(Shape):
    act = serializers.ChoiceField(HOST_ACT_CHOICES)
    host_id = serializers.CharField()
    state_before = serializers.ChoiceField(HOST_STATE_CHOICES)
    state_after = serializers.ChoiceField([*HOST_STATE_CHOICES, REMOVED])
    summary = serializers.CharField(help_text=IN_ENGLISH)
    summary_code = serializers.CharField(help_text=SENTENCE)
    summary_params = params_field()
    refused = HostRefusalSerializer(many=True, help_text="Why it cannot be done now; none: it can.")
    warnings = WarningSerializer(many=True)
    brokers = HostMoveSerializer(many=True, help_text="Where its brokers would have room now.")
    confirm_phrase = serializers.CharField(allow_null=True)
    plan_hash = serializers.CharField()


class HostLossSerializer(Shape):
    plan_hash = serializers.CharField(max_length=64)
    confirm = serializers.CharField(max_length=100, help_text="The host's name.")
    reason = reason_field()


class PlacedSerializer(Shape):
    broker_id = serializers.IntegerField()
    host_id = serializers.CharField()
    rack = serializers.CharField()
    reason = serializers.CharField(help_text=IN_ENGLISH)
    reason_code = sentence_field("null: the plan is of an earlier version.")
    reason_params = params_field()


class HostRefusedSerializer(Shape):
    host_id = serializers.CharField()
    code = serializers.CharField()
    text = serializers.CharField(help_text=IN_ENGLISH)
    text_code = sentence_field("null: the plan is of an earlier version.")
    params = params_field()


class PlacementPreviewSerializer(Shape):
    wanted = serializers.IntegerField()
    fits = serializers.IntegerField(help_text="How many of them have a place.")
    placed = PlacedSerializer(many=True, help_text="Empty when they do not all have one.")
    refused = HostRefusedSerializer(many=True, help_text="Hosts that get none, with the reason.")
