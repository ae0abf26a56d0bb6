"""One row of every model that a backup keeps, each column filled: new models come by themselves."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import QuerySet

from controlplane.backups.selectors import kept_models
from controlplane.common.crypto import seal
from controlplane.common.fields import SealedField

TEXT = "Grüße λ\u2028🚀"
# A link is into a tenant or for a user.
NEVER_WITH_THE_OTHERS = {"tenants.invitation": ("user",)}
TIME = datetime(2026, 3, 4, 5, 6, 7, 123456, tzinfo=UTC)


def fill() -> list[models.Model]:
    """The rows, in the order in which they were inserted."""
    made: dict[type[models.Model], models.Model] = {}
    for model in kept_models():
        row = model(**{f.name: value_for(f, made) for f in model._meta.concrete_fields if wants(f)})
        for name in NEVER_WITH_THE_OTHERS.get(model._meta.label_lower, ()):
            setattr(row, name, None)
        row.save_base(raw=True, force_insert=True)  # as they are: no column fills itself
        made[model] = row
    return list(made.values())


def wants(field: models.Field) -> bool:
    return not (isinstance(field, models.AutoField))


def value_for(field: models.Field, made: dict[type[models.Model], models.Model]) -> Any:
    if field.is_relation:
        return made.get(field.related_model)
    if isinstance(field, SealedField):
        return seal({"field": field.name})
    if field.choices:
        return field.choices[0][0]
    kind = field.get_internal_type()
    if kind in {"CharField", "TextField", "SlugField", "EmailField", "UUIDField"}:
        text = f"{field.model._meta.model_name} {field.name} {TEXT}"
        return text[: field.max_length] if field.max_length else text
    values = {
        "DateTimeField": TIME + timedelta(microseconds=len(field.name)),
        "DateField": TIME.date(),
        "BooleanField": True,
        "FloatField": 0.1 + 0.2,
        "JSONField": {"text": TEXT, "list": [1, None, 2.5, {"deep": True}], "big": 2**60},
        "BigIntegerField": 2**62,
        "PositiveBigIntegerField": 2**62,
        "IntegerField": -(2**31) + 1,
        "PositiveIntegerField": 2**31 - 1,
        "PositiveSmallIntegerField": 2**15 - 1,
        "SmallIntegerField": 2**15 - 1,
        "BinaryField": b"\x00\xff",
    }
    return values[kind]


def everything() -> dict[str, list[dict[str, Any]]]:
    """Every row of every kept model, and who is in what, as plain values."""
    found = {}
    for model in kept_models():
        rows = list(QuerySet(model).order_by("pk").values())
        for many in model._meta.many_to_many:
            pairs = QuerySet(many.remote_field.through).order_by("pk").values()
            found[f"{model._meta.label_lower}.{many.name}"] = [
                {name: value for name, value in pair.items() if name != "id"} for pair in pairs
            ]
        found[model._meta.label_lower] = rows
    return found
