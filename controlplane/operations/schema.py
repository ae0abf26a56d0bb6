"""How drf-spectacular maps fields whose values are known only once every kind is registered."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension

from controlplane.operations.operations import kind_names


class KindFieldSchema(OpenApiSerializerFieldExtension):  # type: ignore[misc] # untyped base
    target_class = "controlplane.operations.serializers.KindField"

    def map_serializer_field(self, auto_schema: Any, direction: str) -> dict[str, Any]:  # noqa: ARG002 - a hook
        return {"type": "string", "enum": kind_names()}
