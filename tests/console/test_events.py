"""The live streams: what they send, in the words of the OpenAPI document."""

import asyncio
import itertools
import json

import pytest
from asgiref.sync import sync_to_async
from jsonschema import Draft202012Validator

from console import events
from console.event_shapes import STREAMS
from tests.console.listening import SECONDS, sign_in
from tests.controlplane.rest.surface import document
from tests.controlplane.support import cluster_make, drive
from tests.waiting import until


def faults(stream, name, data):
    """What is wrong with an event's data; a name that the stream does not have is wrong too."""
    whole = json.loads(json.dumps(document(), default=str))
    found = whole["components"]["schemas"][stream]
    assert name in found["required"]
    schema = {**found["properties"][name], "components": whole["components"]}
    return [error.message for error in Draft202012Validator(schema).iter_errors(data)]


async def until_sent(listener, name, change):
    """Change again and again: a feed's first look may come after a change."""
    async with asyncio.timeout(SECONDS):
        for number in itertools.count():
            if name in {sent for sent, _ in listener.events()}:
                return
            await sync_to_async(change)(number)
            await asyncio.sleep(0.1)


@pytest.mark.django_db(transaction=True)
async def test_a_change_is_named_as_documented(listen, world):
    _, key = await sign_in()
    listener = await listen(key, f"/console/events?topics={','.join(events.TOPICS)}")

    def start(number):
        world.start(world.plan("topic.create", name=f"orders-{number}"))

    await until_sent(listener, "operations", start)
    assert {name for name, _ in listener.events()} == {"operations"}
    await until_sent(
        listener, "clusters", lambda number: cluster_make(world.tenant, f"another-{number}")
    )
    seen = listener.events()
    assert {name for name, _ in seen} == set(events.TOPICS)
    assert [(name, data) for name, data in seen if data != {"topic": name}] == []
    assert [faults("ChangeEvents", name, data) for name, data in seen] == [[]] * len(seen)


@pytest.mark.django_db(transaction=True)
async def test_an_operation_is_sent_as_documented_until_it_ends(listen, world):
    _, key = await sign_in()
    operation = await sync_to_async(
        lambda: world.start(world.plan("topic.create", name="orders"))
    )()
    first_state = operation.state
    listener = await listen(key, f"/console/events/operations/{operation.id}")
    assert listener.status == 200
    await until(listener.events, "the operation is sent")
    assert not listener.ended.is_set()
    await sync_to_async(drive)(operation)
    await asyncio.wait_for(listener.ended.wait(), SECONDS)
    seen = listener.events()
    assert [data["state"] for _, data in seen][:: len(seen) - 1] == [first_state, "succeeded"]
    assert {(name, data["id"]) for name, data in seen} == {("operation", operation.id)}
    assert [faults("OperationEvents", name, data) for name, data in seen] == [[]] * len(seen)


def test_every_stream_of_the_document_says_where_it_is_read():
    schemas = document()["components"]["schemas"]
    assert len(STREAMS) == 3
    for address, shape in STREAMS.items():
        described = schemas[shape.__name__.removesuffix("Serializer")]
        assert address in described["description"]
        assert set(described["required"]) == set(shape().fields)
