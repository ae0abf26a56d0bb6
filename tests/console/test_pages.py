"""Every page over a tenant that has one of everything: each part is there, and is what its shape says."""

import pytest

from console.pages.registry import PAGES
from console.parts import OK, STALE, UNAVAILABLE
from tests.controlplane.rest.surface import address, document, operations
from tests.controlplane.rest.test_document import component, faults
from tests.controlplane.support import client_for, forget_observed, observed

pytestmark = pytest.mark.django_db
ROWS = [row for row in operations() if row.path.startswith("/console/api/pages/")]


def parts_of(world, ids, row):
    answer = client_for(world.tenant).get(address(row, ids))
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    return answer.json()["parts"]


def shape_of(row):
    name = row.path.split("/")[4]
    return document()["components"]["schemas"][f"Console{name.title()}Parts"]


def test_every_page_is_documented():
    assert sorted(row.path.split("/")[4] for row in ROWS) == sorted(PAGES)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_part_is_there_as_its_shape_says(world, ids, row):
    parts = parts_of(world, ids, row)
    assert {name: part["status"] for name, part in parts.items()} == dict.fromkeys(parts, OK)
    assert set(parts) == set(shape_of(row)["properties"])
    name = row.path.split("/")[4].title()
    assert faults(component(f"Console{name}Page"), {"parts": parts}) == []
    # Of the broker nothing is set, and no operation was about it.
    of_broker = {"settings", "operations"} if row.path.split("/")[4] == "broker" else set()
    empty = [name for name, part in parts.items() if part["data"] in (None, [], {})]
    assert set(empty) <= {"attention", "hosts", "reassignments", "quotas", *of_broker}


OF_CLUSTERS = [row for row in ROWS if "cluster_id" in row.parameters]
OBSERVED = {
    *("summary", "loads", "counts", "topics", "topic", "groups", "group", "users", "acls"),
    *("trouble", "partitions", "readers", "rules", "users_counts", "acls_counts"),
}


@pytest.mark.parametrize("row", OF_CLUSTERS, ids=str)
def test_what_was_never_seen_is_missing_while_the_brokers_are_away(world, ids, row):
    forget_observed(world)
    world.gateway.offline = True
    parts = parts_of(world, ids, row)
    missing = {name: part for name, part in parts.items() if part["status"] == UNAVAILABLE}
    assert all("cluster" in part["reason"] for part in missing.values())
    # What runs, and as which process, says the agent of its host.
    without = {"reassignments", "quotas", "settings", "producers", "replicas", "directories"}
    assert set(missing) == (OBSERVED | without) & set(parts)


@pytest.mark.parametrize("row", OF_CLUSTERS, ids=str)
def test_what_was_seen_stays_with_its_age_and_the_reason(world, ids, row):
    observed(world)
    before = parts_of(world, ids, row)
    world.gateway.offline = True
    observed(world)
    parts = parts_of(world, ids, row)
    for name in OBSERVED & set(parts):
        assert (before[name]["status"], parts[name]["status"]) == (OK, STALE), name
        assert parts[name]["reason"] == "The fake cluster is off."
        assert parts[name]["as_of"] == before[name]["as_of"]
