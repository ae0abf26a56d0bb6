"""`delete.topic.enable=false`: a client gets the code that its version knows."""

from __future__ import annotations

import types

import pytest

from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.dataplane.handlers.one_broker import OneBroker


class Nobody:
    """A controller that is asked for names only."""

    is_active = True

    async def submit(self, work):
        return await work(types.SimpleNamespace(context=types.SimpleNamespace(names_by_id={})))


@pytest.mark.parametrize(
    ("version", "code"),
    [(1, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED), (6, None)],
)
async def test_a_client_learns_that_topics_are_not_deleted(version, code):
    broker = OneBroker(controller=Nobody(), delete_topic_enable="false")
    broker.topic("t")
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name="t")], topic_names=["t"], timeout_ms=100
    )
    answer = await broker.ask(request, version)
    assert answer.responses[0].error_code == (code or ErrorCode.TOPIC_DELETION_DISABLED)
    assert broker.partition("t") is not None
    await broker.stop()
