from rest_framework import serializers

from controlplane.common.serializers import Shape
from controlplane.drift.differences import AREAS
from controlplane.drift.who import BY_OPERATION, BY_PRINCIPAL, UNKNOWN
from controlplane.observed.serializers import AS_OF, STALE

AREA_CHOICES = list(AREAS)
AUTHORS = [BY_OPERATION, BY_PRINCIPAL, UNKNOWN]


class DriftWaySerializer(Shape):
    kind = serializers.CharField(help_text="Of an operation, as `POST /plans` takes it.")
    inputs = serializers.DictField()


class DriftAuthorSerializer(Shape):
    by = serializers.ChoiceField(
        AUTHORS,
        help_text="`operation`: one of this service that did not succeed. `principal`: by the audit"
        " log of a broker.",
    )
    actor = serializers.CharField(allow_null=True, help_text="A user of this service or of Kafka.")
    operation_id = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField(allow_null=True, help_text="By whose clock it was written.")
    host = serializers.CharField(allow_null=True, help_text="The client's address.")
    text = serializers.CharField()
    unread = serializers.CharField(
        allow_blank=True,
        help_text="Why audit logs may say more; empty: all that there are were read.",
    )


class DifferenceSerializer(Shape):
    area = serializers.ChoiceField(AREA_CHOICES)
    name = serializers.CharField(
        help_text="Of a topic, user or client; a setting's key; a rule in words."
    )
    field = serializers.CharField(
        allow_blank=True, help_text="What of it differs; empty where that is all of it."
    )
    desired = serializers.CharField(allow_null=True, help_text="As it was left; null: not set.")
    observed = serializers.CharField(allow_null=True)
    operation_id = serializers.CharField(
        allow_null=True, help_text="That left it so; null: it is a rule of this service."
    )
    text = serializers.CharField()
    back = DriftWaySerializer(
        allow_null=True, help_text="The plan that makes the brokers as they were left."
    )
    back_problem = serializers.CharField(allow_blank=True, help_text="Why there is no way back.")
    adopt = DriftWaySerializer(
        allow_null=True, help_text="The plan that takes over what the brokers have."
    )
    adopt_problem = serializers.CharField(allow_blank=True)
    equal_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was last seen as it was left; null: not known."
    )
    seen_at = serializers.DateTimeField(help_text="When it was first seen otherwise.")
    changed_at = serializers.DateTimeField(help_text="When it was first seen as it is now.")
    who = DriftAuthorSerializer()


class DriftAreaSerializer(Shape):
    area = serializers.ChoiceField(AREA_CHOICES)
    as_of = serializers.DateTimeField(
        allow_null=True, help_text=f"{AS_OF} Null: never read, and whether anything drifts unknown."
    )
    stale_reason = serializers.CharField(allow_null=True, help_text=STALE)
    count = serializers.IntegerField(
        allow_null=True, help_text="Differences, those that are not listed too; null: unknown."
    )


class ClusterDriftSerializer(Shape):
    """Of the areas that the reader sees; an area that they do not see is not named."""

    data = DifferenceSerializer(many=True)  # type: ignore[assignment] # a field
    left_out = serializers.IntegerField(help_text="Differences beyond those that are listed.")
    areas = DriftAreaSerializer(many=True)
    under_way = serializers.ListField(
        child=serializers.CharField(),
        help_text="Operations that may be about to change something: of that nothing is said.",
    )
