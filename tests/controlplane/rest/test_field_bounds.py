"""Every text that a body may hold has a most: in the OpenAPI document, so for every client."""

from rest_framework import serializers

from controlplane.operations.operations import kind_names, kind_of
from tests.controlplane.rest.surface import document


def unbounded(schema, place):
    """Places of texts without a bound."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        yield from unbounded(document()["components"]["schemas"][name], name)
        return
    for part in ("oneOf", "anyOf", "allOf"):
        for row in schema.get(part, ()):
            yield from unbounded(row, place)
    kinds = schema.get("type", ())
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    if "string" in kinds and not {"maxLength", "enum", "const", "format"} & set(schema):
        yield place
    if "array" in kinds:
        yield from unbounded(schema["items"], f"{place}[]")
    for name, row in schema.get("properties", {}).items():
        yield from unbounded(row, f"{place}.{name}")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from unbounded(schema["additionalProperties"], f"{place}.*")


def endless_lists(shape, place):
    """Places of lists without a bound: the document does not say those of nested shapes."""
    for name, field in shape.fields.items():
        here = f"{place}.{name}"
        if isinstance(field, serializers.ListSerializer | serializers.ListField):
            if field.max_length is None:
                yield here
            if isinstance(field, serializers.ListSerializer):
                yield from endless_lists(field.child, here)
        elif isinstance(field, serializers.Serializer):
            yield from endless_lists(field, here)


def test_every_list_of_a_plan_s_inputs_has_a_bound():
    assert [
        place for name in kind_names() for place in endless_lists(kind_of(name).inputs(), name)
    ] == []


def test_every_text_of_a_body_has_a_bound():
    found, bodies = set(), 0
    for path, methods in document()["paths"].items():
        for method, spec in methods.items():
            for media in spec.get("requestBody", {}).get("content", {}).values():
                bodies += 1
                found |= set(unbounded(media["schema"], f"{method} {path}"))
    assert bodies >= 6
    assert found == set()
