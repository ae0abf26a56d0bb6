from rest_framework import serializers

from controlplane.common.serializers import Shape
from controlplane.observed.serializers import ObservedRowSerializer, observed_page


class KafkaUserSerializer(ObservedRowSerializer):
    username = serializers.CharField()
    mechanisms = serializers.ListField(child=serializers.CharField())
    managed = serializers.BooleanField(help_text="The service's own user.")


KafkaUserPageSerializer = observed_page(KafkaUserSerializer)


class AclBindingSerializer(Shape):
    principal = serializers.CharField()
    host = serializers.CharField()
    operation = serializers.CharField()
    permission = serializers.CharField()
    resource_type = serializers.CharField()
    resource_name = serializers.CharField()
    pattern_type = serializers.CharField()


class AclSerializer(ObservedRowSerializer, AclBindingSerializer):
    pass


AclPageSerializer = observed_page(AclSerializer)


class AclDiffSerializer(Shape):
    before = AclBindingSerializer(many=True)
    after = AclBindingSerializer(many=True)
