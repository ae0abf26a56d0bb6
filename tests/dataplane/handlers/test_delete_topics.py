"""Which topic DeleteTopics 6 means: by name or by id, never by both."""

from __future__ import annotations

import types
import uuid

import pytest

from dataplane.handlers import delete_topics
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.dataplane.handlers.one_broker import OneBroker

T, UNKNOWN, ZERO = uuid.UUID(int=7), uuid.UUID(int=8), uuid.UUID(int=0)


class Controller:
    """Knows one id."""

    is_active = True

    async def submit(self, work):
        return await work(
            types.SimpleNamespace(context=types.SimpleNamespace(names_by_id={T: "t"}))
        )


@pytest.mark.parametrize(
    ("name", "topic_id", "answered", "code"),
    [
        ("t", ZERO, "t", ErrorCode.POLICY_VIOLATION),
        (None, T, "t", ErrorCode.POLICY_VIOLATION),
        (None, UNKNOWN, None, ErrorCode.UNKNOWN_TOPIC_ID),
        (None, ZERO, None, ErrorCode.INVALID_REQUEST),
        ("t", T, "t", ErrorCode.INVALID_REQUEST),
        ("other", T, "other", ErrorCode.INVALID_REQUEST),
        ("", T, "", ErrorCode.INVALID_REQUEST),  # as in Kafka 3.9: only null is no name
    ],
)
async def test_a_topic_is_named_in_one_way(monkeypatch, *, name, topic_id, answered, code):
    deleted = []

    async def refuse(_controller, names):
        deleted.extend(names)
        return dict.fromkeys(names, KafkaError(ErrorCode.POLICY_VIOLATION))

    monkeypatch.setattr(delete_topics, "delete_topics", refuse)
    broker = OneBroker(controller=Controller())
    asked = [DeleteTopicState(name=name, topic_id=topic_id)]
    answer = await broker.ask(DeleteTopicsRequest(topics=asked, timeout_ms=100), 6)
    result = answer.responses[0]
    assert (result.name, result.topic_id, result.error_code) == (answered, topic_id, code)
    await broker.stop()
    assert deleted == (["t"] if code is ErrorCode.POLICY_VIOLATION else [])
