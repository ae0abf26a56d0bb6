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
