"""Shapes that several apps share in the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError


class Shape(serializers.Serializer[Any]):
    """The shape of a body: documents JSON that selectors build, and checks JSON that comes in.

    What comes in may hold nothing else: a misspelt field is named, not ignored.
    """

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, Mapping) else []
        if not unknown:
            return super().to_internal_value(data)
        errors: dict[str, Any] = {
            str(name): [ErrorDetail("Unknown field.", code="unknown")] for name in unknown
        }
        try:
            super().to_internal_value(data)
        except ValidationError as error:
            if isinstance(error.detail, dict):
                errors = {**error.detail, **errors}
        raise ValidationError(errors)


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {
            "oneOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]
        },
    }
)
class ParamsField(serializers.DictField):
    """What a sentence takes, by name: texts, numbers, and null for what is not known."""


IN_ENGLISH = "In English."
SENTENCE = "Which sentence it is; it stays when the sentence is put another way."


def sentence_field(without: str) -> serializers.CharField:
    """The code of a sentence; `without` says when there is none."""
    return serializers.CharField(allow_null=True, help_text=f"{SENTENCE} {without}")


def params_field() -> ParamsField:
    return ParamsField(help_text="What was put into the sentence, as in warnings.")


class PageSerializer(Shape):
    next = serializers.CharField(allow_null=True)
    has_more = serializers.BooleanField()


class ProblemErrorSerializer(Shape):
    pointer = serializers.CharField()
    code = serializers.CharField()
    detail = serializers.CharField()


class ProblemCoreSerializer(Shape):
    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()
    retryable = serializers.BooleanField()
    errors = ProblemErrorSerializer(many=True, required=False)  # type: ignore[assignment] # a field here


class ProblemChangeSerializer(Shape):
    name = serializers.CharField()
    title = serializers.CharField()
    planned = serializers.IntegerField(allow_null=True)
    planned_at_least = serializers.IntegerField(allow_null=True)
    limit = serializers.IntegerField(allow_null=True)
    now = serializers.IntegerField(allow_null=True)
    now_at_least = serializers.IntegerField()
    added = serializers.ListField(child=serializers.CharField())
    unknown = serializers.ListField(child=serializers.CharField())


class ProbeSerializer(Shape):
    """How far one address let the control plane in."""

    address = serializers.CharField()
    step = serializers.ChoiceField(["dns", "connect", "tls", "kafka", "login"])
    code = serializers.CharField(allow_blank=True, help_text="of the failure; empty without one")
    text = serializers.CharField(allow_blank=True)


class NextPlanSerializer(Shape):
    """A plan that is offered next; it is made by `POST /plans`, on the same cluster."""

    kind = serializers.CharField()
    inputs = serializers.DictField()


class ProblemSerializer(ProblemCoreSerializer):
    changes = ProblemChangeSerializer(
        many=True, required=False, help_text="blast-radius-changed: what grew since the plan"
    )
    probes = ProbeSerializer(
        many=True, required=False, help_text="probe-failed: where each address let nobody in"
    )
    partitions = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="broker-not-empty: the first 100 of what is in the way",
    )
    partitions_total = serializers.IntegerField(required=False)
    next_plan = NextPlanSerializer(
        required=False, help_text="The plan that would take away what is in the way."
    )
    request_id = serializers.CharField(allow_null=True)
    instance = serializers.CharField(allow_null=True)


def etag_field() -> serializers.CharField:
    """Of a resource that can be changed, in each place where it is shown."""
    return serializers.CharField(
        help_text="The version that this is: a write that says it as If-Match is refused with 412"
        " once somebody else has changed it."
    )


def page_serializer(item: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """`{data: [item], page}` as a named component `<Item>Page`."""
    name = item.__name__.removesuffix("Serializer") + "PageSerializer"
    return type(name, (Shape,), {"data": item(many=True), "page": PageSerializer()})
