"""The files that cross between control plane and Spark run."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_analytics import schemas
from spark_analytics.contracts.errors import ContractError
from spark_analytics.contracts.gold import ALL_TABLES, CHOICE_LENGTH_MAX, GROUP_LAG, ColumnType
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.runs import (
    CatalogInput,
    ClusterInput,
    ClusterResult,
    RunConfig,
    RunResult,
)
from spark_analytics.contracts.statuses import (
    RISK_SEVERITY,
    STATUS_SEVERITY,
    Method,
    Reason,
    Risk,
    Severity,
    Status,
    Trend,
    rank,
)

USUAL = {
    "run_id": "run_1",
    "master": "local[2]",
    "data_uri": "file:///lake",
    "work_dir": "/work",
    "from_ts_ms": 0,
    "to_ts_ms": 60_000,
    "deadline_s": 10.0,
    "clusters": (),
}
ONE = {"cluster_id": "a", "bootstrap_servers": "-"}
names = st.text(min_size=1, max_size=20)
clusters = st.builds(
    ClusterInput,
    cluster_id=names,
    bootstrap_servers=names,
    kafka_options=st.dictionaries(names, names, max_size=3),
    offsets_end=st.none() | st.dictionaries(names, st.integers(0, 2**53), max_size=3),
)


@given(given_clusters=st.lists(clusters, max_size=3).map(tuple), lookback_s=st.integers(1, 10**6))
def test_a_configuration_survives_its_file(given_clusters, lookback_s):
    rules = Rules(offset_samples_lookback_s=lookback_s)
    catalog = CatalogInput(uri="jdbc:sqlite:file:/c.db", jars=("/a.jar", "/b.jar"))
    config = RunConfig(**{**USUAL, "clusters": given_clusters, "rules": rules, "catalog": catalog})
    assert RunConfig.from_json(config.to_json()) == config


def test_a_result_survives_its_file():
    result = RunResult(
        run_id="run_1",
        ok=True,
        from_ts_ms=0,
        to_ts_ms=30_000,
        formula_version=1,
        clusters=(ClusterResult(cluster_id="a", offsets_end={"0": 5}, records_in=5),),
        rows={"group_lag": 3},
    )
    assert RunResult.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"from_ts_ms": 1}, "multiples of the window"),
        ({"to_ts_ms": 0}, "after from_ts_ms"),
        ({"data_uri": "/lake"}, "scheme"),
        ({"job": "weekly"}, "job must be one of"),
        ({"job": "hourly"}, "multiples of the window"),
        ({"rules": {"window_s": 0}}, "window_s"),
        ({"rules": {"nonsense": 1}}, "nonsense"),
        ({"unknown": 1}, "unknown"),
        ({"clusters": [{"cluster_id": "a"}]}, "bootstrap_servers"),
        ({"clusters": 5}, "not iterable"),
        ({"catalog": {"uri": "postgres://db/lake"}}, "begin with jdbc:"),
        ({"catalog": {"uri": "jdbc:x://me:pw@db/lake"}}, "must not hold a login"),
        ({"catalog": {"jars": []}}, "uri"),
        ({"clusters": [{**ONE, "from_ts_ms": 1}]}, "a window's start"),
        ({"clusters": [{**ONE, "from_ts_ms": 60_000}]}, "in the run's range"),
        ({"clusters": [{**ONE, "from_ts_ms": -30_000}]}, "in the run's range"),
    ],
)
def test_a_bad_configuration_is_one_line(change, said):
    row = {**dataclasses.asdict(RunConfig(**USUAL)), **change}
    with pytest.raises(ContractError, match=said) as caught:
        RunConfig.from_json(json.dumps(row))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"clusters": []}'])
def test_what_is_no_configuration_or_result_is_refused(text):
    with pytest.raises(ContractError):
        RunConfig.from_json(text)
    with pytest.raises(ContractError):
        RunResult.from_json(text)


@pytest.mark.parametrize("table", ALL_TABLES.values(), ids=lambda table: table.name)
def test_a_gold_table_holds_together(table):
    names = table.column_names
    assert len(set(names)) == len(names) >= len(table.key) > 0
    assert set(table.key) <= set(names)
    assert not any(table.column(name).null for name in table.key)
    for column in table.columns:
        assert (column.length_max is not None) == (column.type is ColumnType.STRING), column


def test_no_choice_is_longer_than_its_column():
    words = [word for choices in (Status, Trend, Method, Risk) for word in choices]
    assert len(words) > 20
    assert max(len(word) for word in words) <= CHOICE_LENGTH_MAX


def test_all_reasons_together_fit_their_column():
    assert GROUP_LAG.column("reasons").length_max == len(",".join(Reason))
    assert not any("," in word for word in Reason)


@pytest.mark.parametrize("name", ALL_TABLES)
def test_spark_s_schema_is_the_contract_s(name):
    schema = getattr(schemas, name.upper())
    assert [(field.name, field.dataType.simpleString()) for field in schema] == [
        (column.name, column.type.value) for column in ALL_TABLES[name].columns
    ]


@pytest.mark.parametrize(
    ("statuses", "severity_of"), [(Status, STATUS_SEVERITY), (Risk, RISK_SEVERITY)]
)
def test_every_status_has_a_severity_and_a_worse_one_no_lesser(statuses, severity_of):
    assert list(severity_of) == list(statuses)
    ranks = [list(Severity).index(severity_of[status]) for status in statuses]
    assert ranks == sorted(ranks)
    assert [rank(status) for status in statuses] == list(range(len(statuses)))


def test_every_severity_is_used():
    assert {*STATUS_SEVERITY.values(), *RISK_SEVERITY.values()} == set(Severity)
