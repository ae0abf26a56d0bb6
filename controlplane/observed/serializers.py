from rest_framework import serializers

from controlplane.common.serializers import PageSerializer, Shape
from controlplane.observed.models import HEALTH_CHOICES

AS_OF = "When this was true at the brokers."
STALE = "Why it may be old or not all there is; null when the last observation read it."


class ObservedSerializer(Shape):
    """The age of a list as a whole."""

    as_of = serializers.DateTimeField(help_text=AS_OF)
    stale_reason = serializers.CharField(allow_null=True, help_text=STALE)


class ObservedRowSerializer(Shape):
    as_of = serializers.DateTimeField(help_text=AS_OF)
    stale_reason = serializers.CharField(allow_null=True, help_text=STALE)


class HealthReasonSerializer(Shape):
    code = serializers.CharField()
    text = serializers.CharField()


class HealthSerializer(Shape):
    status = serializers.ChoiceField(HEALTH_CHOICES)
    reasons = HealthReasonSerializer(many=True)
    as_of = serializers.DateTimeField(allow_null=True, help_text=AS_OF)


def observed_page(
    item: type[serializers.Serializer[object]],
) -> type[serializers.Serializer[object]]:
    """`{data: [item], page, observed}` as a named component `<Item>Page`."""
    name = item.__name__.removesuffix("Serializer") + "PageSerializer"
    fields = {"data": item(many=True), "page": PageSerializer(), "observed": ObservedSerializer()}
    return type(name, (Shape,), fields)
