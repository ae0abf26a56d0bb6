"""Bodies that do not fit, for every operation with a body and every kind of operation."""

import json

import pytest
from rest_framework import serializers

from controlplane.operations.operations import kind_names, kind_of
from tests.controlplane.rest.surface import (
    INPUTS,
    ON,
    address,
    body,
    make_way,
    operations,
    problem,
    send,
)

WITH_BODY = [row for row in operations() if row.has_body]
pytestmark = [pytest.mark.django_db, pytest.mark.every_database]

NO_JSON = [
    b"",
    b"{",
    b"{'a': 1}",
    b'{"a": 1,}',
    b"\xff\xfe{",
    b'{"a": NaN}',
    b'{"a": Infinity}',
    b"[" * 100_000,
    b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    b'{"a": ' + b"9" * 10_000 + b"}",
    b'{"a": "\x00"}',
]
NO_OBJECT = [b"[]", b"null", b"5", b'"text"', b"true", b"[{}]"]
NOT_TEXT = ['{"name": "a\\u0000b"}', '{"a\\u0000": 1}', '{"name": "\\ud800"}', '{"\\udfff": {}}']
LONG = "x" * 100_000


def post(client, row, ids, content):
    return client.generic(
        row.method.upper(), address(row, ids), content, content_type="application/json"
    )


@pytest.mark.parametrize("row", WITH_BODY, ids=str)
def test_what_is_no_json_object_is_refused(owner, ids, state, row):
    before = state()
    for content in NO_JSON:
        found = problem(post(owner, row, ids, content), 400, 422)
        assert found["code"] in {"malformed", "invalid"}, content[:20]
    for content in NO_OBJECT:
        problem(post(owner, row, ids, content), 422)
    for content in NOT_TEXT:
        assert problem(post(owner, row, ids, content), 422)["errors"][0]["code"] == "text"
    huge = json.dumps({"name": "x" * 5_000_000})
    assert problem(post(owner, row, ids, huge), 413)["code"] == "too-large"
    assert state() == before


@pytest.mark.parametrize("row", WITH_BODY, ids=str)
def test_unknown_and_missing_fields_are_named(owner, ids, state, row):
    before = state()
    whole = body(row, ids)
    found = problem(send(owner, row, ids, body={**whole, "surprise": 1}), 422)
    assert [error["pointer"] for error in found["errors"]] == ["/surprise"]
    assert "surprise" in found["detail"]
    empty = problem(send(owner, row, ids, body={}), 422)
    assert {error["code"] for error in empty["errors"]} == {"required"}
    assert all(error["pointer"].strip("/") in empty["detail"] for error in empty["errors"][:3])
    assert state() == before


@pytest.mark.parametrize("row", WITH_BODY, ids=str)
def test_wrong_types_are_named(owner, ids, state, row):
    before = state()
    whole = body(row, ids)
    for name, value in whole.items():
        for wrong in wrong_for(value, name):
            found = problem(send(owner, row, ids, body={**whole, name: wrong}))
            if found["status"] == 422:
                assert found["errors"][0]["pointer"].startswith(f"/{name}"), (name, wrong)
    assert state() == before


# Where null or an empty text says something.
NULLABLE = {
    *("offset", "throttle_bytes_per_s", "bytes_per_s", "value", "key", "partition"),
    "producer_byte_rate",
}
MAY_BE_EMPTY = {
    "confirm",
    "reason",
    "retention.ms",
    "note",
    "description",
    "email",
    "path",
}


def wrong_for(value, name):
    """Values that cannot stand where `value` stands."""
    return [
        wrong
        for wrong in _wrong(value)
        if not (wrong is None and name in NULLABLE)
        and not (wrong == "" and isinstance(value, str) and name in MAY_BE_EMPTY)
    ]


def _wrong(value):
    if isinstance(value, bool):
        return ["maybe", [], {}, 7]
    if isinstance(value, int):
        return ["many", "", [], {}, None, -1, 10**30, 1.5, True]
    if isinstance(value, str):
        return [[], {}, True, LONG, "", "a\0b"]
    if isinstance(value, list):
        return [{}, "text", 5, [[]], [{"surprise": 1}], ["a\0b"], [None]]
    if isinstance(value, dict):
        return [[], "text", 5, None]
    return [[], {}, 5 if value is None else None][:2]


# -- every kind of operation -------------------------------------------------------------------
OTHER_WAYS = {
    *("topics", "all_topics", "target_brokers", "excluded_brokers"),
    *("replication_factor", "drain_broker"),
    *("file", "from_group"),  # where else the positions of a reset stand
    # Ways in to a Kafka; `tests/controlplane/clusters/test_credentials.py` has each.
    *("ca_pem", "client_certificate_pem", "client_key_pem"),
    "rotation",  # what an undo names
    "lease",
    # Instead of a change: what is there is taken over, or what single brokers have is removed.
    *("adopt", "remove_own"),
    *("oauth_token_url", "oauth_client_id", "oauth_client_secret", "oauth_scope"),
}


def test_the_table_knows_every_kind_and_every_input():
    assert sorted(INPUTS) == kind_names()
    for name, inputs in INPUTS.items():
        known = set(kind_of(name).inputs().fields)
        assert set(inputs) <= known
        left_out = known - set(inputs)
        # Ways to say the same that exclude each other: topics and brokers instead of moves.
        assert left_out <= OTHER_WAYS, (name, left_out)


def plan(client, ids, kind, inputs, **more):
    cluster_id = ids[ON.get(kind, "cluster")] if kind_of(kind).on_cluster else None
    request = {"kind": kind, "cluster_id": cluster_id, "inputs": inputs, **more}
    return client.post("/api/v1/plans", request, format="json")


@pytest.mark.parametrize("kind", sorted(INPUTS))
def test_the_inputs_of_the_table_make_a_plan(world, owner, ids, kind):
    make_way(world, kind)
    answer = plan(owner, ids, kind, INPUTS[kind])
    assert answer.status_code == 201, answer.content


@pytest.mark.parametrize("kind", sorted(INPUTS))
def test_inputs_that_do_not_fit_are_named(owner, ids, state, kind):
    before = state()
    whole = INPUTS[kind]
    for path, wrong in spoilt(whole):
        found = problem(plan(owner, ids, kind, wrong), 404, 409, 422)
        text = json.dumps(found)
        assert found["status"] == 422, (path, text)
        pointers = [error["pointer"] for error in found["errors"]]
        assert any(pointer.startswith(f"/inputs/{path[0]}") for pointer in pointers), (path, text)
    assert state() == before


def spoilt(value, path=()):
    """(path, the whole with one wrong value in it), for every place in nested inputs."""
    for name, part in value.items() if isinstance(value, dict) else enumerate(value):
        here = (*path, name)
        for wrong in wrong_for(part, name):
            yield here, replaced(value, name, wrong)
        if isinstance(part, dict | list):
            for deeper, changed in spoilt(part, here):
                yield deeper, replaced(value, name, changed)


def replaced(value, name, wrong):
    copied = value.copy()
    copied[name] = wrong
    return copied


@pytest.mark.parametrize("kind", sorted(INPUTS))
def test_unknown_inputs_are_named_at_every_depth(owner, ids, state, kind):
    before = state()
    found = problem(plan(owner, ids, kind, {**INPUTS[kind], "surprise": 1}), 422)
    assert found["errors"][0]["pointer"] == "/inputs/surprise"
    assert found["errors"][0]["code"] == "unknown"
    for name, value in INPUTS[kind].items():
        if isinstance(value, list) and isinstance(value[0], dict):
            deeper = {**INPUTS[kind], name: [{**value[0], "surprise": 1}]}
            found = problem(plan(owner, ids, kind, deeper), 422)
            assert found["errors"][0]["pointer"] == f"/inputs/{name}/0/surprise"
    assert state() == before


@pytest.mark.parametrize("kind", sorted(INPUTS))
def test_missing_inputs_are_named(owner, ids, state, kind):
    before = state()
    required = {
        name
        for name, field in kind_of(kind).inputs().fields.items()
        if field.required and not isinstance(field, serializers.HiddenField)
    }
    for name in required:
        less = {key: value for key, value in INPUTS[kind].items() if key != name}
        found = problem(plan(owner, ids, kind, less), 422)
        assert found["errors"][0]["pointer"] == f"/inputs/{name}"
        assert name in found["detail"]
    assert state() == before


@pytest.mark.parametrize("kind", sorted(INPUTS))
def test_the_cluster_is_asked_for_where_there_is_one_and_only_there(owner, ids, state, kind):
    before = state()
    if kind_of(kind).on_cluster:
        found = problem(plan(owner, ids, kind, INPUTS[kind], cluster_id=None), 422)
        assert found["errors"][0]["pointer"] == "/cluster_id"
        problem(plan(owner, ids, kind, INPUTS[kind], cluster_id="kc_nothing"), 404)
    else:
        found = problem(plan(owner, ids, kind, INPUTS[kind], cluster_id=ids["cluster"]), 422)
        assert found["errors"][0]["pointer"] == "/cluster_id"
    assert state() == before


ILLEGAL_NAMES = ["", ".", "..", "a b", "a/b", "é", "x" * 250, "a\0b", "a\nb", "#", "*"]


@pytest.mark.parametrize("kind", [k for k in sorted(INPUTS) if k.startswith("topic.")])
def test_illegal_topic_names_are_named(owner, ids, state, kind):
    before = state()
    for name in ILLEGAL_NAMES:
        found = problem(plan(owner, ids, kind, {**INPUTS[kind], "name": name}), 422)
        assert found["errors"][0]["pointer"] == "/inputs/name"
    assert state() == before


def test_an_unknown_kind_is_named_with_those_that_are_known(owner, ids):
    for kind in ("topic.explode", "", "x" * 61, "TOPIC.CREATE", None, 5):
        found = problem(
            owner.post("/api/v1/plans", {"kind": kind, "inputs": {}}, format="json"), 422
        )
        assert found["errors"][0]["pointer"] == "/kind"


# -- confirming --------------------------------------------------------------------------------
def test_without_an_idempotency_key_a_plan_still_starts_only_once(owner, ids):
    row = next(row for row in WITH_BODY if str(row) == "post /operations")
    first = send(owner, row, ids)
    assert first.status_code == 202
    second = problem(send(owner, row, ids), 409)
    assert second["code"] == "plan-used"
    assert second["operation_id"] == first.json()["id"]


@pytest.mark.parametrize("key", ["x" * 201, "é" * 201])
def test_an_idempotency_key_that_is_too_long_is_refused(owner, ids, state, key):
    before = state()
    for row in WITH_BODY:
        if str(row) in {"post /operations", "post /clusters", "post /plans"}:
            found = problem(send(owner, row, ids, headers={"Idempotency-Key": key}), 400)
            assert "Idempotency-Key" in found["detail"]
    assert state() == before


def test_a_plan_that_wants_a_phrase_gets_it_or_nothing_happens(owner, ids, state):
    made = plan(owner, ids, "topic.delete", {"name": "orders"}).json()
    before = state()
    row = next(row for row in WITH_BODY if str(row) == "post /operations")
    wanted = {"plan_id": made["id"], "plan_hash": made["plan_hash"]}
    for confirm in (None, "", "Orders", " orders"):
        found = problem(send(owner, row, ids, body={**wanted, "confirm": confirm}), 422)
        assert found["errors"][0]["pointer"] == "/confirm"
    found = problem(
        send(owner, row, ids, body={**wanted, "plan_hash": "0" * 64, "confirm": "orders"}), 409
    )
    assert found["code"] == "plan-hash-mismatch"
    assert state() == before
