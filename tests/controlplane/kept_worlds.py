"""A filled world is made once by a process; tests that want the same get a copy of its rows.

Filling one takes some fifty ticks of operations, a hundred times as long as what most tests ask of
it. A copy is as the first was: the database's rows, the fakes' state, the ids.
"""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.apps import apps
from django.db import connection, transaction

from tests.controlplane.support import World

KEPT_S = 60.0
"""Rows hold times: of plans, leases and links that end. A copy is hardly older than a test."""
T = TypeVar("T")
NOT_OF_A_TEST = frozenset({"django_migrations", "django_content_type", "auth_permission"})


@dataclass(frozen=True)
class _Table:
    name: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True)
class _Kept:
    made_s: float
    tables: list[_Table]
    world: World
    found: Any


_kept: dict[tuple[str, str], _Kept] = {}


def filled(world: World, name: str, fill: Callable[[World], T]) -> T:
    """What `fill` answers for a fresh `world`: by `fill`, or by a copy of what it did before."""
    key = name, str(connection.settings_dict["NAME"])
    kept = _kept.get(key)
    if kept is None or time.monotonic() - kept.made_s > KEPT_S:
        found = fill(world)
        _kept[key] = _Kept(time.monotonic(), _tables(), _copied(world), copy.deepcopy(found))
        return found
    _write(kept.tables)
    made = _copied(kept.world)
    world.tenant, world.cluster = made.tenant, made.cluster
    world.sent[:] = made.sent
    # Who looks for brokers and hosts was handed these objects: they stay, what is in them goes.
    world.gateway.__dict__.clear()
    world.gateway.__dict__.update(made.gateway.__dict__)
    world.hosts.__dict__.clear()
    world.hosts.__dict__.update(made.hosts.__dict__)
    return copy.deepcopy(kept.found)


def _copied(world: World) -> World:
    return copy.deepcopy(world)


def _made_by_the_database() -> set[tuple[str, str]]:
    """Columns that nobody may write: (table, column)."""
    return {
        (model._meta.db_table, field.column)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if field.generated
    }


def _tables() -> list[_Table]:
    found = []
    made = _made_by_the_database()
    with connection.cursor() as cursor:
        for name in connection.introspection.table_names(cursor):
            if name in NOT_OF_A_TEST:
                continue
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(name)} LIMIT 0")
            columns = tuple(
                column[0] for column in cursor.description if (name, column[0]) not in made
            )
            wanted = ", ".join(map(connection.ops.quote_name, columns))
            cursor.execute(f"SELECT {wanted} FROM {connection.ops.quote_name(name)}")
            if rows := cursor.fetchall():
                found.append(_Table(name, columns, rows))
    return found


def _write(tables: list[_Table]) -> None:
    quoted = connection.ops.quote_name
    with transaction.atomic(), connection.cursor() as cursor:
        for table in tables:  # references are checked at the end
            cursor.execute(f"DELETE FROM {quoted(table.name)}")
        for table in tables:
            columns = ", ".join(map(quoted, table.columns))
            values = ", ".join(["%s"] * len(table.columns))
            cursor.executemany(
                f"INSERT INTO {quoted(table.name)} ({columns}) VALUES ({values})",
                table.rows,
            )
