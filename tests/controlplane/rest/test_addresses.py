"""Addresses, methods, query strings and media types that do not fit: always a problem, nothing done."""

import itertools
import urllib.parse

import pytest
from rest_framework.test import APIClient

from tests.controlplane.rest.conftest import key_client
from tests.controlplane.rest.surface import (
    METHODS,
    address,
    body,
    operations,
    problem,
    send,
)
from tests.controlplane.support import client_for

ALL = operations()
pytestmark = [pytest.mark.django_db, pytest.mark.every_database]
STRANGE = [
    "nothing",
    "op_",
    "x" * 5_000,
    "a\0b",
    "é…",
    "' OR 1=1 --",
    "%2e%2e",
    "a b",
    "-1",
    "null",
]
BAD_QUERY = {
    "page_size": ["0", "-1", "501", "abc", "1.5", "²", "٣", "9" * 5_000, "\0", ""],
    "cursor": ["junk", "a:b:c", "\0", "x" * 5_000, "é"],
    "q": ["\0", "x" * 300],
    "brokers": ["0", "31", "-1", "x", "1.5", "٣", "9" * 5_000, "\0", ""],
    "cluster_id": ["\0"],
    "host_id": ["\0"],
    "runbook": ["\0"],
    "kinds": ["bogus", "topic.create,bogus", "\0"],
    "state": ["bogus", "running,bogus", "\0", ","],
    "from": ["yesterday", "\0", "9" * 40, "2026-13-45"],
    "to": ["tomorrow", "0001-01-01T00:00:00+23:59x"],
    "actor": ["x" * 201, "\0"],
    "action": ["x" * 101, "\0"],
    "resource": ["x" * 401, "\0"],
    "outcome": ["x" * 41, "\0"],
    "format": ["xlsx", "CSV", "\0"],
    "latest": ["maybe", "\0"],
    "group": ["x" * 300, "\0"],
    "topic": ["x" * 300, "\0"],
    "destination_id": ["x" * 41, "\0"],
    "alert_id": ["x" * 61, "\0"],
    "rule": ["bogus", ",", "\0"],
    "severity": ["fatal", "\0"],
    "period": ["week", "3600", "\0"],
    "retention_s": ["0", "x", "1.5", "9" * 40, "\0"],
    "seconds": ["x", "-1", "nan", "inf", "\0"],
    "share": ["1", "0", "x", "nan", "\0"],
    "idle_s": ["0", "x", "9" * 40, "\0"],
    "capacity_bytes": ["0", "-1", "x", "9" * 40, "\0"],
    "hours": ["x", "0", "49"],
    "measure": ["x"],
    "sort": ["secret", "--name", "-", "\0", ""],
    "page": ["0", "-1", "1000001", "²", "9" * 5_000, "\0", ""],
    "size": ["0", "201", "x", "\0", ""],
    "topics_sort": ["secret", "--bytes", "\0", ""],
    "topics_page": ["0", "-1", "1000001", "\0", ""],
    "users_q": ["\0", "x" * 300],
    "users_sort": ["secret", "--username", "\0", ""],
    "users_page": ["0", "-1", "1000001", "\0", ""],
    "quotas_q": ["\0", "x" * 300],
    "quotas_sort": ["secret", "--words", "\0", ""],
    "quotas_page": ["0", "-1", "1000001", "\0", ""],
    "drift_q": ["\0", "x" * 300],
    "drift_sort": ["secret", "--name", "\0", ""],
    "drift_page": ["0", "-1", "1000001", "\0", ""],
    "internal": ["yes", "1", "\0", ""],
    "lagging": ["yes", "TRUE", "\0", ""],
    "favourites": ["mine", "\0", ""],
    "trouble": ["maybe", "\0", ""],
    "points": ["x", "9", "1001"],
    "filter": ["key ==", "x" * 1001, "\0"],
    "header": ["x" * 501, "\0"],
    "key": ["x" * 501, "\0"],
    "value": ["x" * 501, "\0"],
    "isolation": ("serializable", ""),
    "key_format": ["xml", "\0"],
    "value_format": ["xml", "\0"],
    "records": ["0", "10001", "x", "\0"],
    "level": ["LOUD", "info", "\0", ""],
    "limit": ["0", "201", "x", "1.5", "9" * 5_000, "\0", ""],
    "offset": ["-1", "x", "9" * 40, "9" * 5_000, "\0"],
    "order": ["up", "\0"],
    "partitions": ["x", "-1", "1,", "9" * 40, "\0"],
    "time": ["yesterday", "9" * 40, "\0"],
    "whole": ["maybe", "\0"],
    "partition": ["x", "-1", "9" * 40, "\0"],
    "principal": ["x" * 300, "\0"],
    "operation": ["EXPLODE", "READ", "\0"],
    "resource_type": ["BOGUS", "x" * 300, "\0"],
    "resource_name": ["x" * 300, "\0"],
    "host": ["example.org", "1.2.3", "\0"],
    "of": ["bogus", "\0"],
    "on": ["orders", "/0", "orders/-1", "orders/x", "orders/²", "orders/" + "9" * 40, "\0/0"],
    "name": ["x" * 300, "\0"],
    "broker": ["x", "-1", "1.5", "9" * 40, "\0"],
    "range": ["week", "3600", "\0"],
    "kind": ["bogus", "topic,bogus", "\0"],
    "subject": ["bogus", "topic", "topic/", "\0"],
}

# What has to be there for another parameter to be looked at.
NEEDED = {
    "get /clusters/{cluster_id}/analytics/consumption": {"on": "orders/0"},
    "get /clusters/{cluster_id}/analytics/offsets": {"topic": "orders"},
    "get /clusters/{cluster_id}/analytics/sparklines": {"of": "topic", "name": "orders"},
}


@pytest.mark.parametrize("row", [row for row in ALL if row.parameters], ids=str)
def test_made_up_ids_are_not_found(owner, ids, state, row):
    before = state()
    for name, strange in itertools.product(row.parameters, STRANGE):
        values = {key: ids[known] for key, known in id_names(row).items()}
        values[name] = urllib.parse.quote(strange, safe="")
        problem(send(owner, row, ids, path=row.path.format(**values)), 404)
    assert state() == before


def id_names(row):
    from tests.controlplane.rest.surface import IDS

    return {name: IDS[name] for name in row.parameters}


@pytest.mark.parametrize("path", sorted({row.path for row in ALL}))
def test_other_methods_are_refused(owner, ids, state, path):
    row = next(row for row in ALL if row.path == path)
    offered = {row.method for row in ALL if row.path == path}
    before = state()
    for method in {*METHODS, "options", "trace"} - offered:
        answer = owner.generic(method.upper(), address(row, ids), "{}", "application/json")
        problem(answer, 405)
        assert set(answer["Allow"].lower().split(", ")) - {"head", "options"} == offered
    assert state() == before


@pytest.mark.parametrize("path", ["nope", "clusters/", "me/", "operations//", "%00", "../.."])
def test_addresses_that_are_none(owner, path):
    problem(owner.get(f"/api/v1/{path}"), 404)


@pytest.mark.parametrize("path", ["nope", "clusters/", "clusters/x/nope", "operator/nope"])
@pytest.mark.parametrize("who", ["owner", "viewer", "key", "nobody"])
def test_addresses_that_are_none_are_none_for_every_method(world, who, path, state):
    """A session without a CSRF token, a key that may only read, and nobody get one answer."""
    client = APIClient(enforce_csrf_checks=True)
    if who == "key":
        client = key_client(world.tenant, "read")
    elif who != "nobody":
        member = client_for(world.tenant, who)
        client.cookies = member.cookies
    before = state()
    for method in (*METHODS, "options", "trace"):
        answer = client.generic(method.upper(), f"/api/v1/{path}", "{}", "application/json")
        assert problem(answer, 404)["detail"] == "The API has nothing at this address."
    assert state() == before


def test_where_the_api_begins_is_only_read(world):
    client = APIClient(enforce_csrf_checks=True)
    client.cookies = client_for(world.tenant).cookies
    problem(client.post("/api/v1", {}, "json"), 405)


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/v2", "/api/v2/clusters", "/api/v1nope"])
def test_no_version_that_is_none(owner, path):
    problem(owner.get(path), 404)


@pytest.mark.parametrize("path", ["/api/v1", "/api/v1/"])
def test_the_api_begins_with_links(owner, path):
    links = owner.get(path).json()["links"]
    offered = {row.path for row in ALL} | {"/api/v1/openapi.json"}
    assert set(links.values()) <= offered
    assert links["openapi"] == "/api/v1/openapi.json"
    answer = owner.post(path)
    problem(answer, 405)


def test_titles_hold_no_blanks_to_fill(owner):
    wrong_method = owner.delete("/api/v1/me").json()
    assert wrong_method["title"] == "Method not allowed"
    wrong_body = owner.post("/api/v1/plans", "x", content_type="text/x-none").json()
    assert wrong_body["title"] == "Unsupported media type"


@pytest.mark.parametrize("row", ALL, ids=str)
def test_a_query_parameter_that_is_none_is_named(owner, ids, state, row):
    before = state()
    found = problem(send(owner, row, ids, query="?surprise=1"), 422)
    assert found["errors"][0]["pointer"] == "/surprise"
    assert "surprise" in found["detail"]
    assert state() == before


def test_every_query_parameter_has_bad_values():
    assert {name for row in ALL for name in row.query} == set(BAD_QUERY)


@pytest.mark.parametrize(
    ("row", "name"), [(row, name) for row in ALL for name in row.query], ids=str
)
def test_bad_query_values_are_named(owner, ids, row, name):
    for value in BAD_QUERY[name]:
        query = "?" + urllib.parse.urlencode({**NEEDED.get(str(row), {}), name: value})
        found = problem(send(owner, row, ids, query=query), 422)
        # Of a parameter that may be given more than once: which of them.
        assert found["errors"][0]["pointer"] in {f"/{name}", f"/{name}/0"}, value
        assert name in found["detail"]


def test_a_cursor_is_good_for_its_own_list_only(world, owner, ids):
    world.gateway.add_topic("payments")
    topics = f"/api/v1/clusters/{ids['cluster']}/topics"
    cursor = owner.get(topics, {"page_size": 1}).json()["page"]["next"]
    assert owner.get(topics, {"cursor": cursor}).json()["data"]
    problem(owner.get("/api/v1/operations", {"cursor": cursor}), 422)


def test_a_range_that_ends_before_it_begins_is_named(owner, ids):
    query = {"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}
    found = problem(owner.get(f"/api/v1/clusters/{ids['cluster']}/analytics/lag", query), 422)
    assert found["errors"][0]["pointer"] == "/from"


MEDIA_TYPES = [
    "text/plain",
    "application/xml",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
    "nonsense",
    "",
]


@pytest.mark.parametrize("row", [row for row in ALL if row.has_body], ids=str)
def test_other_media_types_are_refused(owner, ids, state, row):
    before = state()
    for media_type in MEDIA_TYPES:
        answer = owner.generic(
            row.method.upper(), address(row, ids), "a=1", content_type=media_type
        )
        assert problem(answer, 415)["code"] == "unsupported-media-type"
    assert state() == before


@pytest.mark.parametrize("row", ALL, ids=str)
def test_answers_are_json_whatever_is_asked_for(owner, ids, row):
    answer = send(owner, row, ids, headers={"Accept": "text/html"})
    assert problem(answer, 406)["code"] == "not-acceptable"


@pytest.mark.parametrize("charset", ["nonsense", "utf-16", "latin-1"])
def test_json_is_utf8_whatever_the_charset_says(owner, ids, charset):
    row = next(row for row in ALL if str(row) == "post /api-keys")
    answer = owner.generic(
        "POST", row.path, '{"name": "é"}', content_type=f"application/json; charset={charset}"
    )
    assert answer.status_code == 201, answer.content
    assert answer.json()["name"] == "é"
    assert body(row, ids)
