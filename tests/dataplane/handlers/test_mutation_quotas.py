"""What clients may have the controller make and delete: refused, or waited for by old versions."""

from __future__ import annotations

import asyncio

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.quotas.entities import DEFAULT, Entity
from dataplane.quotas.overrides import Change
from dataplane.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from dataplane.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from dataplane.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.dataplane.handlers.one_broker import OneBroker

OVER = ErrorCode.THROTTLING_QUOTA_EXCEEDED


class Controller:
    """Makes and deletes what may be paid for."""

    is_active = True

    def __init__(self):
        self.topic_creation = self.topic_deletion = self
        self.done = []

    @property
    def context(self):
        return self

    names_by_id = {}  # noqa: RUF012 - nobody changes it

    async def submit(self, work):
        return await work(self)

    async def propagated(self, _timeout_ms):
        return True

    async def create_topics(self, requests, *, validate_only, spend):
        outcomes = {}
        for each in requests:
            try:
                if not validate_only:
                    spend(each.partitions)
                    self.done.append(each.name)
                outcomes[each.name] = KafkaError(ErrorCode.POLICY_VIOLATION)
            except KafkaError as refusal:
                outcomes[each.name] = refusal
        return outcomes

    async def create_partitions(self, topic, count, _assignments, *, validate_only, spend):
        if not validate_only:
            spend(count)
            self.done.append(topic)

    async def delete_topics(self, topics):
        self.done.extend(topics)
        gone = asyncio.get_running_loop().create_future()
        gone.set_result(None)
        return dict.fromkeys(topics, gone)


@pytest.fixture
async def controller():
    return Controller()


@pytest.fixture
async def broker(controller):
    """Two partitions a second: a bucket of 22."""
    made = OneBroker(controller=controller)
    await ensure_layout(made.coordinator)
    await made.configs.start()
    for name in ("a", "b", "c"):
        made.topic(name, partitions=20)
    change = [Change("controller_mutation_rate", 2.0)]
    await made.handlers.client_quotas.alter(Entity(user=DEFAULT), change, validate_only=False)
    yield made
    await made.configs.stop()
    await made.stop()


def request_of(api: str, *, validate_only: bool = False):
    names = ("a", "b", "c")
    if api == "create":
        topics = [CreatableTopic(name=n, num_partitions=20, replication_factor=1) for n in names]
        return CreateTopicsRequest(topics=topics, timeout_ms=100, validate_only=validate_only)
    if api == "grow":
        grown = [CreatePartitionsTopic(name=n, count=20, assignments=None) for n in names]
        return CreatePartitionsRequest(topics=grown, timeout_ms=100, validate_only=validate_only)
    states = [DeleteTopicState(name=n) for n in names]
    return DeleteTopicsRequest(topics=states, topic_names=list(names), timeout_ms=100)


def codes(answer):
    rows = getattr(answer, "topics", None) or getattr(answer, "results", None) or answer.responses
    return [row.error_code for row in rows]


@pytest.mark.parametrize(("api", "version"), [("create", 6), ("grow", 3), ("delete", 5)])
async def test_what_is_over_the_quota_is_refused(broker, controller, api, version):
    """The one that overdraws the bucket is done: 40 of 22 are 18 too many, nine seconds' worth."""
    answer = await broker.ask(request_of(api), version)
    assert controller.done == ["a", "b"]
    assert codes(answer)[2] == OVER
    assert OVER not in codes(answer)[:2]
    assert answer.throttle_time_ms == 9_000
    assert broker.mutes == [9_000]
    broker.clock.advance(8_999)
    assert codes(await broker.ask(request_of(api), version)) == [OVER] * 3
    assert broker.mutes == [9_000, 1]
    broker.clock.advance(1)
    await broker.ask(request_of(api), version)
    assert controller.done == ["a", "b", "a"]


@pytest.mark.parametrize(("api", "version"), [("create", 5), ("grow", 2), ("delete", 4)])
async def test_old_versions_are_served_and_wait(broker, controller, api, version):
    answer = await broker.ask(request_of(api), version)
    assert controller.done == ["a", "b", "c"]
    assert OVER not in codes(answer)
    assert answer.throttle_time_ms == 19_000
    assert broker.mutes == [19_000]


@pytest.mark.parametrize(("api", "version"), [("create", 6), ("grow", 3)])
async def test_validation_costs_nothing(broker, controller, api, version):
    for _ in range(3):
        answer = await broker.ask(request_of(api, validate_only=True), version)
        assert OVER not in codes(answer)
    assert (answer.throttle_time_ms, broker.mutes, controller.done) == (0, [], [])


async def test_a_client_without_a_quota_is_not_bounded(broker, controller):
    change = [Change("controller_mutation_rate", None)]
    await broker.handlers.client_quotas.alter(Entity(user=DEFAULT), change, validate_only=False)
    for _ in range(3):
        assert OVER not in codes(await broker.ask(request_of("delete"), 5))
    assert broker.mutes == []
