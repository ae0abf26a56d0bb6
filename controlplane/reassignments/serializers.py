from rest_framework import serializers

from controlplane.common.serializers import Shape


class ReassignmentSerializer(Shape):
    topic = serializers.CharField()
    partition = serializers.IntegerField()
    replicas = serializers.ListField(child=serializers.IntegerField())
    adding = serializers.ListField(child=serializers.IntegerField())
    removing = serializers.ListField(child=serializers.IntegerField())


class ReassignmentListSerializer(Shape):
    data = ReassignmentSerializer(many=True)  # type: ignore[assignment] # a field


class MoveSerializer(Shape):
    topic = serializers.CharField()
    partition = serializers.IntegerField()
    before = serializers.ListField(child=serializers.IntegerField())
    after = serializers.ListField(child=serializers.IntegerField())
    bytes = serializers.IntegerField(allow_null=True, help_text="null: not known")
    size_bytes = serializers.IntegerField(allow_null=True)


class BrokerLoadSerializer(Shape):
    id = serializers.IntegerField()
    before_bytes = serializers.IntegerField(allow_null=True, help_text="null: it did not say")
    after_bytes = serializers.IntegerField(allow_null=True)
    before_replicas = serializers.IntegerField(allow_null=True)
    after_replicas = serializers.IntegerField(allow_null=True)


class ReassignmentDiffSerializer(Shape):
    partitions = MoveSerializer(many=True)
    brokers = BrokerLoadSerializer(many=True)
