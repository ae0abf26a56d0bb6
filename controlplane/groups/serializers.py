from typing import Any

from rest_framework import serializers

from controlplane.common.serializers import Shape
from controlplane.groups.rules import EFFECTS
from controlplane.observed.serializers import ObservedRowSerializer, observed_page


class GroupRowSerializer(ObservedRowSerializer):
    group = serializers.CharField()
    state = serializers.CharField()
    protocol_type = serializers.CharField(allow_blank=True)
    members = serializers.IntegerField()
    coordinator = serializers.IntegerField(allow_null=True)
    lag = serializers.IntegerField(allow_null=True)
    topics = serializers.ListField(child=serializers.CharField())


GroupRowPageSerializer = observed_page(GroupRowSerializer)


class TopicPartitionSerializer(Shape):
    topic = serializers.CharField()
    partition = serializers.IntegerField()


class GroupMemberSerializer(Shape):
    member_id = serializers.CharField()
    client_id = serializers.CharField()
    host = serializers.CharField()
    partitions = TopicPartitionSerializer(many=True)


class GroupOffsetSerializer(Shape):
    topic = serializers.CharField()
    partition = serializers.IntegerField()
    committed = serializers.IntegerField(allow_null=True)
    log_start = serializers.IntegerField(allow_null=True)
    log_end = serializers.IntegerField(allow_null=True)
    lag = serializers.IntegerField(allow_null=True)
    metadata = serializers.CharField(allow_blank=True)


class GroupSerializer(ObservedRowSerializer):
    group = serializers.CharField()
    state = serializers.CharField()
    protocol_type = serializers.CharField(allow_blank=True)
    coordinator = serializers.IntegerField(allow_null=True)
    lag = serializers.IntegerField(allow_null=True)
    topics = serializers.ListField(child=serializers.CharField())
    members = GroupMemberSerializer(many=True)
    offsets = GroupOffsetSerializer(many=True)


class OffsetChangeSerializer(TopicPartitionSerializer):
    to = serializers.IntegerField(allow_null=True)
    log_start = serializers.IntegerField(
        allow_null=True, help_text="null: the partition has no leader now, nobody says it"
    )
    log_end = serializers.IntegerField(allow_null=True)
    effect = serializers.ChoiceField(EFFECTS)
    records = serializers.IntegerField(
        allow_null=True, help_text="null: the commit goes, and its consumers' settings decide"
    )
    reason = serializers.CharField(allow_blank=True)

    def get_fields(self) -> dict[str, Any]:
        return {**super().get_fields(), "from": serializers.IntegerField(allow_null=True)}


class OffsetDiffSerializer(Shape):
    partitions = OffsetChangeSerializer(many=True)


class GroupFactsSerializer(Shape):
    state = serializers.CharField()
    members = serializers.IntegerField()
    lag = serializers.IntegerField(allow_null=True)


class VanishingOffsetSerializer(TopicPartitionSerializer):
    committed = serializers.IntegerField()
    log_start = serializers.IntegerField(allow_null=True)
    log_end = serializers.IntegerField(allow_null=True)
    lag = serializers.IntegerField(allow_null=True)
    restorable = serializers.BooleanField(help_text="Its partition is there: undo commits it again")


class GroupDeletionDiffSerializer(Shape):
    before = GroupFactsSerializer()
    after = serializers.JSONField()
    offsets = VanishingOffsetSerializer(many=True)
