"""Shapes that several rooms share in the OpenAPI document."""

from typing import Any

from rest_framework import serializers


class Shape(serializers.Serializer[Any]):
    """A response shape: documents JSON that selectors build; it holds no logic."""


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


class ProblemSerializer(ProblemCoreSerializer):
    request_id = serializers.CharField(allow_null=True)
    instance = serializers.CharField(allow_null=True)


def page_serializer(item: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """`{data: [item], page}` as a named component `<Item>Page`."""
    name = item.__name__.removesuffix("Serializer") + "PageSerializer"
    return type(name, (Shape,), {"data": item(many=True), "page": PageSerializer()})
