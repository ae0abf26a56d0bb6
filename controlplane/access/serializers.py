from rest_framework import serializers

from controlplane.access.models import OPEN_STATES
from controlplane.common.serializers import Shape
from controlplane.observed.serializers import (
    AS_OF,
    STALE,
    ObservedRowSerializer,
    observed_page,
)


class KafkaUserSerializer(ObservedRowSerializer):
    username = serializers.CharField()
    mechanisms = serializers.ListField(child=serializers.CharField())
    managed = serializers.BooleanField(help_text="The service's own user.")


KafkaUserPageSerializer = observed_page(KafkaUserSerializer)


class PasswordOverlapSerializer(Shape):
    """Two passwords of one user that work beside each other."""

    username = serializers.CharField()
    old_mechanism = serializers.CharField()
    new_mechanism = serializers.CharField(help_text="Clients with the new password name this one.")
    state = serializers.ChoiceField(
        list(OPEN_STATES),
        help_text="`held`: the old password is not removed by itself any more; see `problem`.",
    )
    rotation = serializers.CharField(help_text="The operation that began it.")
    created_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField(help_text="When the old password is removed.")
    problem = serializers.CharField(
        allow_blank=True, help_text="Why it has not ended yet although its time is over."
    )


class PasswordOverlapListSerializer(Shape):
    data = PasswordOverlapSerializer(many=True)  # type: ignore[assignment] # a field


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


class AccessDriftRowSerializer(Shape):
    area = serializers.ChoiceField(["user", "acl"])
    name = serializers.CharField(help_text="A user's name, or a rule in words.")
    desired = serializers.CharField(help_text="What the last verified operation left.")
    observed = serializers.CharField()
    operation_id = serializers.CharField()
    text = serializers.CharField()


class SectionAgeSerializer(Shape):
    as_of = serializers.DateTimeField(
        allow_null=True, help_text=f"{AS_OF} Null: never read, and whether anything drifts unknown."
    )
    stale_reason = serializers.CharField(allow_null=True, help_text=STALE)


class AccessDriftSerializer(Shape):
    data = AccessDriftRowSerializer(many=True)  # type: ignore[assignment] # a field
    users = SectionAgeSerializer()
    acls = SectionAgeSerializer()


class AclDiffSerializer(Shape):
    before = AclBindingSerializer(many=True)
    after = AclBindingSerializer(many=True)
