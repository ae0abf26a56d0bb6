"""The shapes of plans by kind, made for the OpenAPI document from the registry of kinds.

A kind says what it takes (`inputs`) and what it shows (`diff_shape`); the document's `PlanInput`
and `Plan` are one of these shapes, distinguished by `kind`.
"""

import functools
from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from controlplane.common.serializers import Shape
from controlplane.operations.operations import OperationKind, kind_names, kind_of
from controlplane.operations.serializers import CLUSTER_ID_MAX, PlanCoreSerializer

ShapeClass = type[serializers.Serializer[Any]]
NULL = {"type": "null"}


def plan_shapes() -> dict[str, ShapeClass]:
    return {name: plan_shape(name) for name in kind_names()}


def plan_input_shapes() -> dict[str, ShapeClass]:
    return {name: _plan_input_shape(name) for name in kind_names()}


@functools.cache
def plan_shape(kind_name: str) -> ShapeClass:
    """A plan of this kind, as component `<Kind>Plan`."""
    kind = _registered(kind_name)
    cluster_id = serializers.CharField() if kind.on_cluster else _described(NULL)()
    fields = {
        "kind": _described({"type": "string", "const": kind_name})(),
        "cluster_id": cluster_id,
        "inputs": _inputs(kind),
        "diff": kind.diff_shape(),
    }
    return _shape(f"{_pascal(kind_name)}PlanSerializer", PlanCoreSerializer, fields)


@functools.cache
def _plan_input_shape(kind_name: str) -> ShapeClass:
    kind = _registered(kind_name)
    fields: dict[str, serializers.Field[Any, Any, Any, Any]] = {
        "kind": _described({"type": "string", "const": kind_name})(),
        "cluster_id": serializers.CharField(max_length=CLUSTER_ID_MAX)
        if kind.on_cluster
        else _described(NULL)(required=False),
        "inputs": _inputs(kind),
    }
    return _shape(f"{_pascal(kind_name)}PlanInputSerializer", Shape, fields)


def _registered(kind_name: str) -> OperationKind:
    kind = kind_of(kind_name)
    if kind is None:
        raise LookupError(f"no kind is called {kind_name}")
    return kind


def _shape(name: str, base: ShapeClass, fields: Mapping[str, Any]) -> ShapeClass:
    return type(name, (base,), dict(fields))


def _described(schema: dict[str, Any]) -> type[serializers.JSONField]:
    """A field that the document shows as this JSON Schema."""
    field: type[serializers.JSONField] = extend_schema_field(schema)(
        type("DescribedField", (serializers.JSONField,), {})
    )
    return field


def _inputs(kind: OperationKind) -> serializers.Field[Any, Any, Any, Any]:
    shape = kind.inputs()
    if shape.fields:
        return shape
    return _described({"type": "object", "additionalProperties": False})()


def _pascal(kind_name: str) -> str:
    return "".join(word.title() for word in kind_name.split("."))


PLAN = PolymorphicProxySerializer("Plan", plan_shapes, "kind")
PLAN_INPUT = PolymorphicProxySerializer("PlanInput", plan_input_shapes, "kind")
