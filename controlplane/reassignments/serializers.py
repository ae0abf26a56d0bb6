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
    bytes = serializers.IntegerField()
    size_bytes = serializers.IntegerField()


class BrokerLoadSerializer(Shape):
    id = serializers.IntegerField()
    before_bytes = serializers.IntegerField()
    after_bytes = serializers.IntegerField()
    before_replicas = serializers.IntegerField()
    after_replicas = serializers.IntegerField()


class ReassignmentDiffSerializer(Shape):
    partitions = MoveSerializer(many=True)
    brokers = BrokerLoadSerializer(many=True)
