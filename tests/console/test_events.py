"""The live streams: what they send, in the words of the OpenAPI document."""

import asyncio
import json

import pytest
from jsonschema import Draft202012Validator

from console import events
from console.event_shapes import STREAMS
from console.feeds import Feed
from controlplane.operations.selectors import operation_get
from tests.controlplane.rest.surface import document

SECONDS_MAX = 5


def read_events(stream, count):
    """The first `count` events as (name, data); comments are passed over."""

    async def read():
        found = []
        async for text in stream:
            if not text.startswith(":"):
                name, data = text.rstrip("\n").split("\n")
                found.append((name.removeprefix("event: "), data.removeprefix("data: ")))
            if len(found) == count:
                break
        await stream.aclose()
        return [(name, json.loads(data)) for name, data in found]

    return asyncio.run(asyncio.wait_for(read(), SECONDS_MAX))


def faults(stream, name, data):
    """What is wrong with an event's data; a name that the stream does not have is wrong too."""
    whole = json.loads(json.dumps(document(), default=str))
    found = whole["components"]["schemas"][stream]
    assert name in found["required"]
    schema = {**found["properties"][name], "components": whole["components"]}
    return [error.message for error in Draft202012Validator(schema).iter_errors(data)]


def changing(name):
    """A feed whose subject is another one at every look."""
    looks = iter(range(1000))
    return Feed(lambda: [name, next(looks)], poll_s=0.01)


def test_a_change_is_named_as_documented():
    seen = read_events(events.merged_changes({name: changing(name) for name in events.TOPICS}), 6)
    assert {name for name, _ in seen} == set(events.TOPICS)
    assert [(name, data) for name, data in seen if data != {"topic": name}] == []
    assert [faults("ChangeEvents", name, data) for name, data in seen] == [[]] * len(seen)


@pytest.mark.django_db
def test_an_operation_is_sent_as_documented_until_it_ends(world):
    operation = world.run("topic.create", name="orders")
    shown = operation_get(world.tenant, operation.id)
    texts = iter([{**shown, "state": "running"}, shown])
    feed = Feed(lambda: next(texts, shown), poll_s=0.01)
    seen = read_events(events.operation_changes(feed), 10)
    assert [(name, data["state"]) for name, data in seen] == [
        ("operation", "running"),
        ("operation", "succeeded"),
    ]
    assert [faults("OperationEvents", name, data) for name, data in seen] == [[], []]


def test_every_stream_of_the_document_says_where_it_is_read():
    schemas = document()["components"]["schemas"]
    assert len(STREAMS) == 2
    for address, shape in STREAMS.items():
        described = schemas[shape.__name__.removesuffix("Serializer")]
        assert address in described["description"]
        assert set(described["required"]) == set(shape().fields)
