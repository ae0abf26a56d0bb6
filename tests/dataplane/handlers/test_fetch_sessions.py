"""Fetch sessions on the wire: opened, continued, forgotten, parked, and always authorised again."""

from __future__ import annotations

import pytest

from dataplane.broker.delayed.deferred import Deferred
from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.fetch import FetchRequest, ForgottenTopic
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch, read_answer, settled
from tests.dataplane.handlers.test_fetch import append, fetch, only, values

VERSION = 17


def more(session: tuple[int, int], request: FetchRequest | None = None, **changes) -> FetchRequest:
    """The next request of a session; without `request` it names no partition."""
    made = request or fetch("t", indexes=())
    made.topics = [topic for topic in made.topics if topic.partitions]
    made.session_id, made.session_epoch = session
    for name, value in changes.items():
        setattr(made, name, value)
    return made


async def opened(broker: OneBroker, topic, version: int = VERSION, **options) -> int:
    response = await broker.ask(fetch(topic, session=(0, 0), **options), version)
    assert response.error_code == 0
    assert response.session_id > 0
    return response.session_id


def fetched_values(response) -> dict[int, list[str]]:
    """Values by partition."""
    assert response.error_code == 0
    return {
        part.partition_index: values(part)
        for topic in response.responses
        for part in topic.partitions
    }


@pytest.mark.parametrize("version", range(7, 18))
async def test_a_session_in_every_version_that_has_them(broker: OneBroker, version: int) -> None:
    topic_id = broker.topic("t", partitions=2)
    topic = topic_id if version >= 13 else "t"
    append(broker, batch("a"))
    session_id = await opened(broker, topic, version, indexes=(0, 1))
    ahead = more((session_id, 1), fetch(topic, 1, indexes=(0,)))
    assert fetched_values(await broker.ask(ahead, version)) == {}
    append(broker, batch("b"))
    append(broker, batch("x"), index=1)
    response = await broker.ask(more((session_id, 2)), version)
    assert response.session_id == session_id
    assert fetched_values(response) == {0: ["b"], 1: ["x"]}


async def test_forgotten_partitions_are_sent_no_more(broker: OneBroker) -> None:
    topic_id = broker.topic("t", partitions=2)
    session_id = await opened(broker, topic_id, indexes=(0, 1))
    append(broker, batch("a"))
    append(broker, batch("x"), index=1)
    forgotten = [ForgottenTopic(topic_id=topic_id, partitions=[0])]
    response = await broker.ask(more((session_id, 1), forgotten_topics_data=forgotten), VERSION)
    assert fetched_values(response) == {1: ["x"]}


async def test_a_parked_request_answers_with_what_came(broker: OneBroker) -> None:
    topic_id = broker.topic("t", partitions=2)
    session_id = await opened(broker, topic_id, indexes=(0, 1))
    request = more((session_id, 1), max_wait_ms=60_000)
    parked = broker.submit(request, VERSION)
    assert isinstance(parked, Deferred)
    append(broker, batch("x"), index=1)
    assert fetched_values(read_answer(request, VERSION, await settled(parked))) == {1: ["x"]}


async def test_a_request_that_was_asked_again_meanwhile_is_refused(broker: OneBroker) -> None:
    topic_id = broker.topic("t")
    session_id = await opened(broker, topic_id)
    request = more((session_id, 1), max_wait_ms=60_000)
    parked = broker.submit(request, VERSION)
    assert fetched_values(await broker.ask(more((session_id, 2)), VERSION)) == {}
    append(broker, batch("a"))
    response = read_answer(request, VERSION, await settled(parked))
    assert response.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


async def test_a_lost_leadership_is_reported_at_once_and_again(broker: OneBroker) -> None:
    topic_id = broker.topic("t", replicas=(ME, PEER))
    session_id = await opened(broker, topic_id, replica=PEER)
    broker.topic("t", leader=PEER, replicas=(ME, PEER), leader_epoch=1)
    for epoch in (1, 2):
        request = more((session_id, epoch), fetch(topic_id, replica=PEER), max_wait_ms=60_000)
        part = only(await broker.ask(request, VERSION))
        assert part.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


async def test_rights_are_asked_with_every_request(broker: OneBroker, monkeypatch) -> None:
    topic_id = broker.topic("t")
    session_id = await opened(broker, topic_id)
    monkeypatch.setattr("dataplane.broker.context.RequestContext.authorize", lambda *_: False)
    part = only(await broker.ask(more((session_id, 1)), VERSION))
    assert part.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED


async def test_followers_acknowledge_by_what_the_session_remembers(broker: OneBroker) -> None:
    """An incremental request that names nothing says that nothing has changed."""
    topic_id = broker.topic("t", replicas=(ME, PEER))
    append(broker, batch("a"))
    session_id = await opened(broker, topic_id, replica=PEER)
    assert broker.partition("t").high_watermark == 0
    await broker.ask(more((session_id, 1), fetch(topic_id, 1, replica=PEER)), VERSION)
    assert broker.partition("t").high_watermark == 1
    nothing = fetch("t", indexes=(), replica=PEER)
    response = await broker.ask(more((session_id, 2), nothing), VERSION)
    assert response.session_id == session_id


async def test_no_slots_no_sessions() -> None:
    broker = OneBroker(max_incremental_fetch_session_cache_slots="0")
    topic_id = broker.topic("t")
    response = await broker.ask(fetch(topic_id, session=(0, 0)), VERSION)
    assert (response.error_code, response.session_id) == (0, 0)
    await broker.stop()


@pytest.mark.parametrize("version", [11, VERSION])
async def test_who_only_calls_itself_a_follower_gets_no_session(
    broker: OneBroker, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Followers' sessions drive out consumers': all places could be taken."""
    topic_id = broker.topic("t", replicas=(ME, PEER))
    topic = topic_id if version >= 13 else "t"
    sessions = broker.replica_manager.fetch_sessions.cache
    await opened(broker, topic, version, replica=PEER)
    monkeypatch.setattr("dataplane.broker.context.RequestContext.authorize", lambda *_: False)
    response = await broker.ask(fetch(topic, session=(0, 0), replica=PEER), version)
    assert only(response).error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert response.session_id == 0
    assert len(sessions) == 1
