"""Numbers of a row as columns that the database makes of it: lists are ordered by them.

Nobody writes them, so they cannot say something else than the row does.
"""

from typing import Any

from django.db.models import BigIntegerField, Func, GeneratedField

OFFLINE_WEIGHT = 1_000_000
"""A partition without a leader weighs as many that only lack replicas: more than a topic has."""


class RowNumber(Func):
    """The whole number `key` of the column `row`; null where the row has none, or null."""

    def __init__(self, key: str, **more: Any) -> None:
        if not key.replace("_", "").isalpha():
            raise ValueError(key)  # it becomes a part of the statement
        super().__init__("row", output_field=BigIntegerField(), **more)
        self.key = key

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"JSON_EXTRACT(%(expressions)s, '$.{self.key}')"
        return super().as_sql(compiler, connection, template=template, **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"(((%(expressions)s) ->> '{self.key}')::bigint)"
        return super().as_sql(compiler, connection, template=template, **more)


def number(expression: Any) -> GeneratedField:
    """A column of it, unknown where a part of it is."""
    return GeneratedField(
        expression=RowNumber(expression) if isinstance(expression, str) else expression,
        output_field=BigIntegerField(null=True),
        db_persist=True,
    )
