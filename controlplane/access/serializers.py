from rest_framework import serializers

from controlplane.common.serializers import Shape


class KafkaUserSerializer(Shape):
    username = serializers.CharField()
    mechanisms = serializers.ListField(child=serializers.CharField())
    managed = serializers.BooleanField(help_text="The service's own user.")


class KafkaUserListSerializer(Shape):
    data = KafkaUserSerializer(many=True)  # type: ignore[assignment] # a field


class AclBindingSerializer(Shape):
    principal = serializers.CharField()
    host = serializers.CharField()
    operation = serializers.CharField()
    permission = serializers.CharField()
    resource_type = serializers.CharField()
    resource_name = serializers.CharField()
    pattern_type = serializers.CharField()


class AclListSerializer(Shape):
    data = AclBindingSerializer(many=True)  # type: ignore[assignment] # a field


class AclDiffSerializer(Shape):
    before = AclBindingSerializer(many=True)
    after = AclBindingSerializer(many=True)
