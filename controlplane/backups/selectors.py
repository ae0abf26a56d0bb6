"""What a backup reads: the models in an order that rows can be inserted in, and one snapshot."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.apps import apps
from django.core import serializers
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model, QuerySet

from controlplane.backups.rules import LEFT_OUT

READ_AT_ONCE = 2000


class BackupEncoder(DjangoJSONEncoder):
    """Django's encoder with every microsecond of a time; Django's own stops at milliseconds."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


def kept_models() -> list[type[Model]]:
    """Every model of the database but those of LEFT_OUT; what a row refers to comes before it."""
    kept = [
        model
        for model in apps.get_models()
        if model._meta.managed and model._meta.label_lower not in LEFT_OUT
    ]
    ordered: list[type[Model]] = []

    def place(model: type[Model], above: tuple[type[Model], ...]) -> None:
        if model in ordered or model in above or model not in kept:
            return
        for field in model._meta.get_fields():
            if (field.many_to_one or field.one_to_one) and field.concrete and field.related_model:
                place(field.related_model, (*above, model))
        ordered.append(model)

    for model in kept:
        place(model, ())
    return ordered


def applied_migrations() -> dict[str, list[str]]:
    """Names of the migrations that this database has, by app."""
    found: dict[str, list[str]] = {}
    for app, name in sorted(MigrationRecorder(connection).applied_migrations()):
        found.setdefault(app, []).append(name)
    return found


def lines_of(model: type[Model]) -> Iterator[str]:
    """One line of JSON a row, by primary key, read in portions."""
    rows: QuerySet[Model] = QuerySet(model).order_by("pk")
    for row in rows.iterator(chunk_size=READ_AT_ONCE):
        text = serializers.serialize(
            "jsonl", [row], cls=BackupEncoder, use_natural_foreign_keys=True
        )
        yield text.rstrip("\n")


@contextmanager
def snapshot() -> Iterator[None]:
    """Every read in the block sees the database as it is now, and nobody waits for the reader."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
        return
    # SQLite in WAL mode. Django would begin IMMEDIATE, which keeps writers out.
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")
