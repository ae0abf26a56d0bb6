"""Lists as files: what is searched for in its order, complete, of what the reader sees, and no formulas."""

import csv
import io

import pytest

from console import exports
from controlplane.gateway.types import TP
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, observed, tenant_make


def rows(client, world, name, **query):
    answer = client.get(f"/console/api/exports/{name}/{world.cluster.id}", query)
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}.csv"'
    text = answer.content.decode()
    return list(csv.DictReader(io.StringIO(text))), answer[exports.COMPLETE]


@pytest.fixture
def shop(world):
    world.gateway.add_topic("team-a-small", partitions=1, records=5)
    world.gateway.add_topic("team-a-large", partitions=2, records=900)
    world.gateway.add_topic("other", partitions=1, records=50)
    world.gateway.add_topic("__consumer_offsets", partitions=1)
    world.gateway.add_group("team-a-late", {TP("team-a-large", 0): 1, TP("other", 0): 0})
    world.gateway.add_group("=cmd|' /C calc'!A0", {TP("other", 0): 0})
    observed(world)
    return world


def test_a_list_of_topics_in_its_order_with_exact_numbers(shop, monkeypatch):
    monkeypatch.setattr(exports, "EXPORT_BATCH", 2)
    found, complete = rows(client_for(shop.tenant), shop, "topics", sort="-records")
    assert [row["name"] for row in found] == ["team-a-large", "other", "team-a-small"]
    assert (found[0]["records"], found[0]["partitions"]) == ("1800", "2")
    assert complete == "true"
    found, _ = rows(client_for(shop.tenant), shop, "topics", q="team", sort="name")
    assert [row["name"] for row in found] == ["team-a-large", "team-a-small"]
    found, _ = rows(client_for(shop.tenant), shop, "topics", internal="true")
    assert "__consumer_offsets" in {row["name"] for row in found}


def test_a_file_is_bounded_and_says_so(shop, monkeypatch):
    monkeypatch.setattr(exports, "EXPORT_ROWS_MAX", 2)
    found, complete = rows(client_for(shop.tenant), shop, "topics", sort="name")
    assert ([row["name"] for row in found], complete) == (["other", "team-a-large"], "false")


def test_no_name_is_a_formula(shop):
    found, _ = rows(client_for(shop.tenant), shop, "groups", sort="group")
    assert [row["group"] for row in found] == ["'=cmd|' /C calc'!A0", "team-a-late"]


def test_a_file_is_of_what_the_reader_sees(shop):
    narrow = member_of(shop.tenant)
    found, _ = rows(narrow, shop, "topics")
    assert [row["name"] for row in found] == ["team-a-large", "team-a-small"]
    (group,) = rows(narrow, shop, "groups", sort="-lag")[0]
    assert (group["group"], group["topics"], group["lag"]) == ("team-a-late", "team-a-large", "899")


@pytest.mark.parametrize("name", ["topics", "groups"])
def test_somebody_elses_list_is_not_there(shop, name):
    other = client_for(tenant_make("other"))
    other.raise_request_exception = False
    problem(other.get(f"/console/api/exports/{name}/{shop.cluster.id}"), 404)


def test_what_makes_no_sense_is_named_and_files_have_a_rate(shop, settings):
    client = client_for(shop.tenant)
    client.raise_request_exception = False
    where = f"/console/api/exports/topics/{shop.cluster.id}"
    for query, pointer in [({"sort": "x"}, "/sort"), ({"page": "1"}, "/page")]:
        assert problem(client.get(where, query), 422)["errors"][0]["pointer"] == pointer
    settings.RATE_LIMITS = {"exports": "2/hour"}
    assert [client.get(where).status_code for _ in range(3)] == [200, 200, 429]
