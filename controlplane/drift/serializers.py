from rest_framework import serializers

from controlplane.common.serializers import Shape
from controlplane.drift.differences import AREAS
from controlplane.observed.serializers import AS_OF, STALE
from controlplane.observed.sighting_serializers import SightedSerializer

AREA_CHOICES = list(AREAS)


class DifferenceSerializer(SightedSerializer):
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
        allow_null=True,
        help_text="That left it so; null: it is a rule of this service (`racks`), or the reader may"
        " not see the operation.",
    )


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
