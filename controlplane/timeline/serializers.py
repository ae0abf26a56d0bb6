from typing import Any

from rest_framework import serializers

from controlplane.common.serializers import PageSerializer, Shape
from controlplane.timeline.rules import KIND_CHOICES, TEXT_MAX_CHARS, TONES

CLUSTER_ID_MAX = 40
TOPIC_MAX = 249
GROUP_MAX = 500


class TimelineEventSerializer(Shape):
    id = serializers.CharField()
    at = serializers.DateTimeField(help_text="When it was seen, of what was observed.")
    not_before = serializers.DateTimeField(
        allow_null=True, help_text="When it was last seen otherwise; null: it happened at `at`."
    )
    kind = serializers.ChoiceField(KIND_CHOICES)
    tone = serializers.ChoiceField(TONES)
    cluster_id = serializers.CharField(allow_null=True, help_text="null: it is the tenant's.")
    cluster = serializers.CharField(allow_null=True)
    subject = serializers.CharField(
        allow_blank=True, help_text="topic/…, group/…, broker/…; empty: the cluster or tenant."
    )
    text = serializers.CharField(help_text="One sentence.")
    before = serializers.DictField(
        child=serializers.JSONField(allow_null=True), help_text="By partition or setting."
    )
    after = serializers.DictField(child=serializers.JSONField(allow_null=True))
    count = serializers.IntegerField(
        allow_null=True, help_text="Partitions, settings or events; null: more than you may see."
    )
    more = serializers.BooleanField(help_text="It stands for others that are not kept one by one.")
    by = serializers.CharField(allow_null=True)
    removable = serializers.BooleanField(help_text="A deployment whose mark you may take back.")
    operation_id = serializers.CharField(allow_null=True)
    alert_id = serializers.CharField(allow_null=True)
    runbook = serializers.CharField(allow_null=True)


class DeploymentSerializer(TimelineEventSerializer):
    etag = serializers.CharField()


class TimelinePageSerializer(Shape):
    data = TimelineEventSerializer(many=True)  # type: ignore[assignment] # a field here
    page = PageSerializer()
    kept_from = serializers.DateTimeField(help_text="Nothing older is kept.")


class TimelineQuerySerializer(serializers.Serializer[Any]):
    cluster_id = serializers.CharField(required=False, max_length=CLUSTER_ID_MAX)

    def get_fields(self) -> dict[str, Any]:
        times = {name: serializers.DateTimeField(required=False) for name in ("from", "to")}
        return {**super().get_fields(), **times}


class DeploymentInputSerializer(Shape):
    text = serializers.CharField(max_length=TEXT_MAX_CHARS, help_text="What was deployed.")
    cluster_id = serializers.CharField(
        max_length=CLUSTER_ID_MAX, allow_null=True, default=None, help_text="null: the tenant."
    )
    topic = serializers.CharField(max_length=TOPIC_MAX, allow_null=True, default=None)
    group = serializers.CharField(max_length=GROUP_MAX, allow_null=True, default=None)
    at = serializers.DateTimeField(
        allow_null=True, default=None, help_text="Within the last 24 hours; now by default."
    )
