"""The gold tables in SQL are those of the contract, column by column."""

from __future__ import annotations

import pytest
from django.db import models

from controlplane.analytics.load import MODELS
from spark_analytics.contracts.gold import ALL_TABLES, ColumnType

FIELDS = {
    ColumnType.STRING: models.CharField,
    ColumnType.INT: models.IntegerField,
    ColumnType.LONG: models.BigIntegerField,
    ColumnType.DOUBLE: models.FloatField,
}
OF_SQL_ALONE = {"id", "run_id"}


def test_every_gold_table_has_its_model():
    assert MODELS.keys() == ALL_TABLES.keys()


@pytest.mark.parametrize("table", ALL_TABLES.values(), ids=lambda table: table.name)
def test_a_gold_model_has_the_columns_of_the_contract(table):
    found = {field.name: field for field in MODELS[table.name]._meta.concrete_fields}
    assert found.keys() - OF_SQL_ALONE == set(table.column_names)
    assert {
        name: (type(field), field.column, field.null, field.max_length)
        for name, field in found.items()
        if name not in OF_SQL_ALONE
    } == {
        column.name: (FIELDS[column.type], column.name, column.null, column.length_max)
        for column in table.columns
    }


@pytest.mark.parametrize("table", ALL_TABLES.values(), ids=lambda table: table.name)
def test_a_gold_model_has_one_row_a_key(table):
    (once,) = MODELS[table.name]._meta.constraints
    assert sorted(once.fields) == sorted(table.key)
