"""Which topic DeleteTopics 6 means: by name or by id, never by both."""

from __future__ import annotations

import types
import uuid

import pytest

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.dataplane.handlers.one_broker import OneBroker

T, UNKNOWN, ZERO = uuid.UUID(int=7), uuid.UUID(int=8), uuid.UUID(int=0)


class Controller:
    """Knows one id, and refuses to delete whatever it is."""

    is_active = True

    def __init__(self):
        self.context = types.SimpleNamespace(names_by_id={T: "t"})
        self.topic_deletion = self
        self.deleted = []

    async def submit(self, work):
        return await work(self)

    async def delete_topics(self, asked):
        self.deleted.extend(asked)
        return dict.fromkeys(asked, KafkaError(ErrorCode.POLICY_VIOLATION))


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
async def test_a_topic_is_named_in_one_way(*, name, topic_id, answered, code):
    controller = Controller()
    broker = OneBroker(controller=controller)
    asked = [DeleteTopicState(name=name, topic_id=topic_id)]
    answer = await broker.ask(DeleteTopicsRequest(topics=asked, timeout_ms=100), 6)
    result = answer.responses[0]
    assert (result.name, result.topic_id, result.error_code) == (answered, topic_id, code)
    await broker.stop()
    assert controller.deleted == (["t"] if code is ErrorCode.POLICY_VIOLATION else [])
