"""Numbers of a row as columns that the database makes of it: lists are ordered by them.

Nobody writes them, so they cannot say something else than the row does. What a row holds in a list
is asked of the database too, so that whoever looks for one name does not read all rows.
"""

from typing import Any

from django.db.models import BigIntegerField, BooleanField, Func, GeneratedField, Value

OFFLINE_WEIGHT = 1_000_000
"""A partition without a leader weighs as many that only lack replicas: more than a topic has."""


class _OfRow(Func):
    """What the column `row` has of `key`."""

    def __init__(self, key: str, *arguments: Any, **more: Any) -> None:
        if not key.replace("_", "").isalpha():
            raise ValueError(key)  # it becomes a part of the statement
        super().__init__("row", *arguments, **more)
        self.key = key


class RowNumber(_OfRow):
    """The whole number `key` of the column `row`; null where the row has none, or null."""

    output_field = BigIntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"JSON_EXTRACT(%(expressions)s, '$.{self.key}')"
        return super().as_sql(compiler, connection, template=template, **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"(((%(expressions)s) ->> '{self.key}')::bigint)"
        return super().as_sql(compiler, connection, template=template, **more)


class RowFlag(_OfRow):
    """Whether `key` of the column `row` is true; not where the row has none, or null."""

    output_field = BooleanField()

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"COALESCE(JSON_EXTRACT(%(expressions)s, '$.{self.key}') = 1, 0)"
        return super().as_sql(compiler, connection, template=template, **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"COALESCE((%(expressions)s) -> '{self.key}' = 'true'::jsonb, false)"
        return super().as_sql(compiler, connection, template=template, **more)


class RowHolds(_OfRow):
    """Whether the list of texts `key` of the column `row` holds `text`."""

    output_field = BooleanField()

    def __init__(self, key: str, text: str, **more: Any) -> None:
        super().__init__(key, Value(text), **more)

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = "EXISTS(SELECT 1 FROM JSON_EACH(%(expressions)s)"
        joined = f", '$.{self.key}') WHERE value = "
        return super().as_sql(compiler, connection, template=template, arg_joiner=joined, **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template, joined = "JSONB_EXISTS(%(expressions)s)", f" -> '{self.key}', "
        return super().as_sql(compiler, connection, template=template, arg_joiner=joined, **more)


def number(expression: Any) -> GeneratedField:
    """A column of it, unknown where a part of it is."""
    return GeneratedField(
        expression=RowNumber(expression) if isinstance(expression, str) else expression,
        output_field=BigIntegerField(null=True),
        db_persist=True,
    )


def flag(key: str) -> GeneratedField:
    """A column of it."""
    return GeneratedField(expression=RowFlag(key), output_field=BooleanField(), db_persist=True)
