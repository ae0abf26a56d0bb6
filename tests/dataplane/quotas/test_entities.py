"""Entities: from requests, to nodes and back; what is none is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.quotas.entities import DEFAULT, Entity, entity_at, place_of
from dataplane.quotas.filters import Filter
from dataplane.quotas.overrides import Change, altered, quotas_in

NAMES = st.one_of(st.just(DEFAULT), st.just("<default>"), st.text(min_size=1, max_size=12))
ENTITIES = st.one_of(
    NAMES.map(lambda user: Entity(user=user)),
    NAMES.map(lambda client: Entity(client_id=client)),
    st.tuples(NAMES, NAMES).map(lambda both: Entity(*both)),
    st.one_of(st.just(DEFAULT), st.ip_addresses().map(str)).map(lambda ip: Entity(ip=ip)),
)


@given(ENTITIES)
def test_every_entity_has_a_place_of_its_own(entity):
    assert entity_at(*place_of(entity)) == entity
    assert Entity.from_parts(entity.parts()) == entity
    assert "/" not in place_of(entity)[1]


def test_places_are_kafkas():
    assert place_of(Entity(user="a b")) == ("users", "a%20b")
    assert place_of(Entity(user=DEFAULT)) == ("users", "<default>")
    assert place_of(Entity(user="u/v", client_id="c")) == ("users/u%2Fv/clients", "c")
    assert place_of(Entity(user=DEFAULT, client_id=DEFAULT)) == (
        "users/<default>/clients",
        "<default>",
    )
    assert place_of(Entity(client_id="c*")) == ("clients", "c%2A")
    assert place_of(Entity(ip="::1")) == ("ips", "%3A%3A1")
    assert entity_at("topics", "t") is None
    assert entity_at("brokers", "<default>") is None


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [("user", "")],
        [("client-id", "")],
        [("group", "g")],
        [("user", "a"), ("user", "b")],
        [("ip", "1.2.3.4"), ("user", "a")],
        [("ip", "1.2.3.4"), ("client-id", None)],
        [("ip", "localhost")],
        [("ip", "1.2.3")],
    ],
)
def test_what_is_no_entity_is_refused(parts):
    with pytest.raises(KafkaError) as refusal:
        Entity.from_parts(parts)
    assert refusal.value.code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("producer_byte_rate", 1024.0, "1024"),
        ("producer_byte_rate", 1024.0000000001, "1024"),
        ("consumer_byte_rate", 2.0**63, "9223372036854775807"),
        ("request_percentage", 12.5, "12.5"),
        ("controller_mutation_rate", 10.0, "10.0"),
    ],
)
def test_values_are_written_as_kafka_writes_them(key, value, text):
    assert altered(Entity(user="u"), {}, [Change(key, value)]) == {key: text}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("producer_byte_rate", 0.0),
        ("producer_byte_rate", -1.0),
        ("producer_byte_rate", math.nan),
        ("producer_byte_rate", 10.5),
        ("producer_byte_rate", 1e-7),
        ("consumer_byte_rate", 1e19),
        ("consumer_byte_rate", math.inf),
        ("request_percentage", math.inf),
        ("connection_creation_rate", 1.0),
        ("SCRAM-SHA-256", 1.0),
        ("SCRAM-SHA-256", None),
        ("no_such_key", None),
    ],
)
@pytest.mark.parametrize("entity", [Entity(user="u"), Entity(client_id="c")])
def test_other_values_and_keys_are_refused(entity, key, value):
    with pytest.raises(KafkaError) as refusal:
        altered(entity, {"SCRAM-SHA-256": "secret"}, [Change(key, value)])
    assert refusal.value.code == ErrorCode.INVALID_REQUEST


def test_an_address_has_one_key():
    entity = Entity(ip=DEFAULT)
    key = "connection_creation_rate"
    assert altered(entity, {}, [Change(key, 2.0**31 - 1)]) == {key: "2147483647"}
    for change in (Change(key, 2.0**31), Change("producer_byte_rate", 1.0)):
        with pytest.raises(KafkaError):
            altered(entity, {}, [change])


def test_a_key_is_changed_once():
    with pytest.raises(KafkaError):
        altered(Entity(user="u"), {}, [Change("request_percentage", 1.0)] * 2)


def test_only_quotas_are_read():
    overrides = {"SCRAM-SHA-256": "x", "producer_byte_rate": "5", "request_percentage": "-1"}
    overrides["consumer_byte_rate"] = "many"
    assert quotas_in(Entity(user="u"), overrides) == {"producer_byte_rate": 5.0}


ALL = [
    Entity(user="a"),
    Entity(user=DEFAULT),
    Entity(user="a", client_id="c"),
    Entity(user="a", client_id=DEFAULT),
    Entity(client_id="c"),
    Entity(client_id=DEFAULT),
    Entity(ip="1.2.3.4"),
    Entity(ip=DEFAULT),
]


@pytest.mark.parametrize(
    ("components", "strict", "found"),
    [
        ([], False, ALL),
        ([], True, []),
        ([("user", 0, "a")], False, [ALL[0], ALL[2], ALL[3]]),
        ([("user", 0, "a")], True, [ALL[0]]),
        ([("user", 1, None)], False, [ALL[1]]),
        ([("user", 2, None)], True, ALL[:2]),
        ([("user", 2, None)], False, ALL[:4]),
        ([("client-id", 2, None)], True, ALL[4:6]),
        ([("user", 2, None), ("client-id", 1, None)], True, [ALL[3]]),
        ([("user", 0, "a"), ("client-id", 0, "c")], False, [ALL[2]]),
        ([("ip", 2, None)], True, ALL[6:]),
        ([("ip", 0, "1.2.3.4")], True, [ALL[6]]),
        ([("user", 0, "<default>")], False, []),
    ],
)
def test_filters(components, strict, found):
    wanted = Filter.from_components(components, is_strict=strict)
    assert [entity for entity in ALL if wanted.matches(entity)] == found


@pytest.mark.parametrize(
    ("components", "code"),
    [
        ([("", 0, "a")], ErrorCode.INVALID_REQUEST),
        ([("group", 0, "a")], ErrorCode.UNSUPPORTED_VERSION),
        ([("user", 0, "a"), ("user", 1, None)], ErrorCode.INVALID_REQUEST),
        ([("user", 0, "a"), ("ip", 2, None)], ErrorCode.INVALID_REQUEST),
        ([("user", 0, None)], ErrorCode.INVALID_REQUEST),
        ([("user", 3, "a")], ErrorCode.INVALID_REQUEST),
    ],
)
def test_filters_that_are_refused(components, code):
    with pytest.raises(KafkaError) as refusal:
        Filter.from_components(components, is_strict=False)
    assert refusal.value.code == code


@given(ENTITIES, st.booleans())
def test_a_filter_for_an_entitys_own_names_finds_it(entity, strict):
    components = [(kind, 1 if name is None else 0, name) for kind, name in entity.parts()]
    assert Filter.from_components(components, is_strict=strict).matches(entity)
