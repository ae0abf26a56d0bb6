"""Every API in every version: served, or refused by code in a shape that its client can read."""

import asyncio
import contextlib
import struct

import pytest

from dataplane.broker.metrics import UNKNOWN_API
from dataplane.broker.networking.frame_buffer import FrameError
from dataplane.handlers import registry
from dataplane.handlers.error_response import error_response
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.server import dispatch
from dataplane.wire.apis import API_TABLE, ApiKey, load
from dataplane.wire.codec import decode, encode
from dataplane.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from dataplane.wire.messages.delete_topics import DeleteTopicsRequest
from dataplane.wire.messages.describe_cluster import DescribeClusterRequest
from dataplane.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from dataplane.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from tests.dataplane.handlers.one_broker import OneBroker, read_answer, settled
from tests.dataplane.wire.random_messages import Random


@pytest.fixture
async def broker():
    broker = OneBroker()
    yield broker
    await broker.stop()


def test_the_registry_promises_only_what_the_release_has() -> None:
    for key, (low, high) in registry.HANDLED.items():
        assert API_TABLE[key].min_version <= low <= high <= API_TABLE[key].max_version
        module = registry.handler_module(key)
        assert callable(module.handle_frame if key in registry.HOT else module.handle)
        assert module.__doc__
        assert f"({int(key)})" in module.__doc__.split("\n")[0]


def test_whatever_has_messages_is_served() -> None:
    assert registry.HANDLED.keys() == API_TABLE.keys() == set(ApiKey)


KEYS = (-(2**15), -1, *range(100), 500, 999, 2**15 - 1)


@pytest.mark.parametrize("key", KEYS)
async def test_whatever_is_not_served_is_answered_with_error_35(
    broker: OneBroker, key: int
) -> None:
    """Every key and version but those that are served; nothing is read of the body."""
    lowest, highest = registry.HANDLED.get(key, (0, -1))
    versions = {-(2**15), -1, *range(12), highest + 1, highest + 2, 2**15 - 1}
    asked = sorted(versions - set(range(lowest, highest + 1)))
    for version in asked:
        frame = struct.pack(">hhih", key, version, 99, -1) + b"\xff" * 40
        if (key, version) == (ApiKey.CONTROLLED_SHUTDOWN, 0):
            continue
        (part,) = broker.dispatcher.submit(broker.connection, memoryview(frame))
        size, correlation_id = struct.unpack_from(">ii", part)
        assert (size, correlation_id) == (len(part) - 4, 99)
        assert struct.pack(">h", ErrorCode.UNSUPPORTED_VERSION) in part[8:]
    assert broker.metrics.requests == {key if key in registry.HANDLED else UNKNOWN_API: len(asked)}


async def test_before_authentication_it_closes_the_connection(broker: OneBroker) -> None:
    broker.info.authenticated = False
    for key in (ApiKey.METADATA, 68, 999):
        frame = struct.pack(">hhih", key, 99, 99, -1) + bytes(40)
        with pytest.raises(FrameError, match="before SASL"):
            broker.dispatcher.submit(broker.connection, memoryview(frame))


async def test_a_version_from_the_future_is_refused(broker: OneBroker) -> None:
    header = bytes([0, ApiKey.DESCRIBE_CLUSTER, 0, 99, 0, 0, 0, 99, 255, 255])
    parts = broker.dispatcher.submit(broker.connection, memoryview(header + b"\0\0"))
    answer = read_answer(DescribeClusterRequest(), 1, parts)
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize("key", sorted(registry.HANDLED))
async def test_a_torn_body_never_raises_anything_else(broker: OneBroker, key: ApiKey) -> None:
    rng = Random(int(key))
    low, high = registry.HANDLED[key]
    for version in {low, high}:
        request = rng.instance(load(key)[0], version)
        body = encode(request, version)
        head = bytes([0, key, 0, version, 0, 0, 0, 99])
        if (key, version) != (ApiKey.CONTROLLED_SHUTDOWN, 0):
            head += b"\xff\xff"  # no client id
        if API_TABLE[key].is_flexible(version):
            head += b"\0"
        for cut in {0, 1, len(body) // 2, len(body) - 1} & set(range(len(body))):
            frame = memoryview(bytearray(head + body[:cut]))
            with contextlib.suppress(FrameError):
                broker.dispatcher.submit(broker.connection, frame)
            assert asyncio.all_tasks() == {asyncio.current_task()}, "no handler was asked"
    assert broker.metrics.failed_requests.value == 0


@pytest.mark.parametrize(("key", "version"), [(9, 8), (9, 9), (10, 4), (1, 4), (9, 1)])
async def test_what_cannot_be_read_is_never_answered_as_if_nothing_was_wrong(
    broker: OneBroker, key: ApiKey, version: int
) -> None:
    """These versions have no field for an error of the whole request."""
    tags = b"\0" if API_TABLE[ApiKey(key)].is_flexible(version) else b""
    frame = struct.pack(">hhih", key, version, 99, -1) + tags + b"\x7f" * 9
    with pytest.raises(FrameError, match="malformed"):
        broker.dispatcher.submit(broker.connection, memoryview(frame))


async def test_a_bug_in_a_handler_is_answered_and_counted(broker: OneBroker, monkeypatch) -> None:
    async def broken(context, request):
        raise ZeroDivisionError

    monkeypatch.setattr(registry, "handler", lambda key: broken)
    request = ListGroupsRequest()
    answer = await broker.ask(request, 4)
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert broker.metrics.failed_requests.value == 1


async def test_an_answer_that_cannot_be_written_is_answered_as_a_bug(broker, monkeypatch) -> None:
    async def unwritable(context, request):
        return ListGroupsResponse(groups=[object()])

    monkeypatch.setattr(registry, "handler", lambda key: unwritable)
    answer = await broker.ask(ListGroupsRequest(), 4)
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert broker.metrics.failed_requests.value == 1


async def test_where_no_bug_can_be_said_the_connection_is_closed(broker, monkeypatch) -> None:
    """Nobody waits for ever for an answer that cannot be made."""

    async def unwritable(context, request):
        return load(ApiKey.FIND_COORDINATOR)[1](coordinators=[object()])

    closed: list[bool] = []
    broker.connection.close_after_answer = lambda: closed.append(True)
    monkeypatch.setattr(registry, "handler", lambda key: unwritable)
    monkeypatch.setattr(dispatch, "error_response", lambda *_args, **_named: None)
    request = load(ApiKey.FIND_COORDINATOR)[0](coordinator_keys=["g"])
    assert await settled(broker.submit(request, 4)) is None
    assert closed == [True]


async def test_a_refusal_of_a_handler_is_answered_in_shape(broker: OneBroker, monkeypatch) -> None:
    async def refusing(context, request):
        raise KafkaError(ErrorCode.NOT_CONTROLLER, "ask another")

    monkeypatch.setattr(registry, "handler", lambda key: refusing)
    request = CreateTopicsRequest(topics=[CreatableTopic(name="a"), CreatableTopic(name="b")])
    answer = await broker.ask(request, 7)
    assert [(t.name, t.error_code, t.error_message) for t in answer.topics] == [
        ("a", ErrorCode.NOT_CONTROLLER, "ask another"),
        ("b", ErrorCode.NOT_CONTROLLER, "ask another"),
    ]


def test_errors_mirror_nested_requests() -> None:
    request = ListOffsetsRequest(
        topics=[
            ListOffsetsTopic(
                name="t", partitions=[ListOffsetsPartition(partition_index=i) for i in (3, 5)]
            )
        ]
    )
    answer = error_response(load(2)[1], request, ErrorCode.CORRUPT_MESSAGE, version=9)
    assert [(p.partition_index, p.error_code) for p in answer.topics[0].partitions] == [
        (3, 2),
        (5, 2),
    ]
    names = DeleteTopicsRequest(topic_names=["x", "y"])
    answer = error_response(load(20)[1], names, ErrorCode.NOT_CONTROLLER, version=5)
    assert [(t.name, t.error_code) for t in answer.responses] == [("x", 41), ("y", 41)]


@pytest.mark.parametrize("key", sorted(API_TABLE))
def test_every_error_answer_can_be_written_and_read(key: ApiKey) -> None:
    rng = Random(int(key))
    spec = API_TABLE[key]
    for version in range(spec.min_version, spec.max_version + 1):
        request = rng.instance(load(key)[0], version)
        for source in (None, request):
            code = ErrorCode.INVALID_REQUEST
            answer = error_response(load(key)[1], source, code, version=version)
            if answer is None:
                continue
            data = encode(answer, version)
            _again, end = decode(load(key)[1], version, memoryview(data))
            assert end == len(data)
