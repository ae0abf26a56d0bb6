"""A follower's fetches as one session with its leader: what is named, and after what everything is."""

from __future__ import annotations

import asyncio

from dataplane.broker.replicas.replica_fetcher import CHANNELS_MAX
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.replication.fetch_sessions import FetchManager
from dataplane.wire.codec import encode
from dataplane.wire.fetch_codec import FetchedPartition, encode_fetch_response
from dataplane.wire.fetch_request import parse_fetch
from dataplane.wire.messages.fetch import FetchRequest, FetchResponse, PartitionData
from tests.dataplane.broker.replicas.test_replica_fetcher import TOPIC, Leader, records
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker
from tests.waiting import turns, until


class LeaderWithSessions(Leader):
    """Keeps fetch sessions as brokers do; answers when it is let."""

    def __init__(self, broker: OneBroker, answer) -> None:
        super().__init__(broker, answer)
        self.sessions = FetchManager(slots=9, clock=broker.clock, entropy=broker.entropy)
        self.requests: list[FetchRequest] = []
        self.parked: list = []
        self.parks = True
        self.garbage = 0

    def send(self, request, version: int, callback) -> None:
        self.fetches += 1
        self.requests.append(request)
        frame = bytes(encode(request, version))
        parts = parse_fetch(version, memoryview(frame), 0)
        loop = asyncio.get_running_loop()
        if self.garbage:
            self.garbage -= 1
            loop.call_soon(callback, memoryview(b"\xff\xff\xff"), 0)
            return
        try:
            fetched = self.sessions.open(parts, version)
        except KafkaError as error:
            refusal = FetchResponse(error_code=error.code)
            loop.call_soon(callback, memoryview(encode(refusal, version)), 0)
            return
        if self.parks and parts.max_wait_ms:
            self.parked.append((fetched, version, callback))
        else:
            loop.call_soon(self.reply, fetched, version, callback)

    def reply(self, fetched, version: int, callback) -> None:
        answers = [
            (topic, [self.fetched(wanted) for wanted in partitions])
            for topic, partitions in fetched.asked
        ]
        try:
            session_id, news = fetched.settle(answers)
        except KafkaError as error:
            callback(memoryview(encode(FetchResponse(error_code=error.code), version)), 0)
            return
        parts = encode_fetch_response(version, 0, news, session_id=session_id)
        callback(memoryview(b"".join(parts)), 4 + 4 + 1)

    def fetched(self, wanted) -> FetchedPartition:
        answered = self.answer(wanted)
        return FetchedPartition(
            wanted.partition,
            answered.error_code,
            answered.high_watermark,
            log_start_offset=answered.log_start_offset,
            records=answered.records,
        )

    def let_go(self) -> None:
        parked, self.parked = self.parked, []
        for each in parked:
            self.reply(*each)


def caught_up(wanted) -> PartitionData:
    return PartitionData(
        partition_index=wanted.partition, high_watermark=wanted.fetch_offset, log_start_offset=0
    )


def named(request) -> list[int]:
    return [each.partition for topic in request.topics for each in topic.partitions]


def in_a_session(scenario) -> None:
    """Run `scenario(broker, leader)` with five partitions followed at a leader with sessions."""

    async def run() -> None:
        broker = OneBroker()
        leader = LeaderWithSessions(broker, caught_up)
        broker.topic(TOPIC, leader=PEER, replicas=(ME, PEER), leader_epoch=1, partitions=5)
        await until(lambda: leader.parked)
        await scenario(broker, leader)
        await broker.stop()

    asyncio.run(run())


def test_every_partition_is_named_once_and_then_only_what_moves():
    async def scenario(broker, leader) -> None:
        full, first = leader.requests
        assert (named(full), full.session_epoch, full.max_wait_ms) == ([0, 1, 2, 3, 4], 0, 0)
        assert (named(first), first.session_epoch) == ([], 1)
        leader.answer = lambda wanted: (
            records_of(3, wanted.fetch_offset) if wanted.partition == 3 else caught_up(wanted)
        )
        leader.let_go()
        await until(lambda: leader.parked)
        assert named(leader.requests[2]) == [3]
        assert leader.requests[2].topics[0].partitions[0].fetch_offset == 2
        assert broker.partition(TOPIC, 3).log.log_end_offset == 2

    in_a_session(scenario)


def records_of(index: int, base_offset: int) -> PartitionData:
    answer = records(base_offset, 1)
    answer.partition_index = index
    return answer


def test_a_leader_that_lost_the_session_is_sent_everything_again():
    async def scenario(_broker, leader) -> None:
        leader.sessions.cache.remove(leader.requests[-1].session_id)
        leader.let_go()
        await until(lambda: len(leader.requests) >= 5 and leader.parked)
        assert [r.session_epoch for r in leader.requests[2:]] == [2, 0, 1]
        assert named(leader.requests[3]) == [0, 1, 2, 3, 4]

    in_a_session(scenario)


def test_a_broken_connection_is_followed_by_a_full_request():
    async def scenario(_broker, leader) -> None:
        ((_, _, callback),) = leader.parked
        leader.parked.clear()
        callback(None, 0)
        await until(lambda: leader.parked)
        assert leader.requests[2].session_epoch == 0
        assert leader.requests[2].session_id == leader.requests[1].session_id
        assert len(leader.sessions.cache) == 1

    in_a_session(scenario)


def test_an_answer_that_cannot_be_read_is_followed_by_a_full_request():
    async def scenario(_broker, leader) -> None:
        leader.garbage = 1
        leader.let_go()
        await until(lambda: leader.parked)
        assert [r.session_epoch for r in leader.requests[2:]] == [2, 0, 1]

    in_a_session(scenario)


def test_a_partition_that_is_added_is_asked_for_while_another_request_is_parked():
    async def scenario(broker, leader) -> None:
        broker.topic("more", leader=PEER, replicas=(ME, PEER), leader_epoch=1)
        await until(lambda: len(leader.requests) == 3)
        assert leader.requests[2].session_epoch == 2
        assert leader.requests[2].topics[0].topic_id == broker.ids["more"]
        leader.let_go()  # the overtaken one is refused: that changes nothing
        await until(lambda: leader.parked)
        assert [r.session_epoch for r in leader.requests[3:]] == [3]

    in_a_session(scenario)


def test_requests_under_way_to_one_leader_are_bounded():
    async def scenario(broker, leader) -> None:
        for number in range(20):
            broker.topic(f"more-{number}", leader=PEER, replicas=(ME, PEER), leader_epoch=1)
            await turns()
        await until(lambda: len(leader.parked) >= CHANNELS_MAX)
        await turns()
        assert len(leader.parked) == CHANNELS_MAX
        leader.let_go()
        await until(lambda: sum(map(len, map(named, leader.requests))) >= 25)

    in_a_session(scenario)


def test_a_partition_that_waits_out_a_refusal_is_left_out_meanwhile():
    async def scenario(broker, leader) -> None:
        refuses = True

        def answer(wanted) -> PartitionData:
            answered = caught_up(wanted)
            if wanted.partition == 2 and refuses:
                answered.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            return answered

        leader.answer = answer
        leader.let_go()
        await until(lambda: len(leader.requests) == 3)
        (gone,) = leader.requests[2].forgotten_topics_data
        assert gone.partitions == [2]
        assert leader.requests[2].max_wait_ms <= 25, "it wants to be asked for soon"
        refuses = False
        await asyncio.sleep(0.03)
        leader.let_go()
        await until(lambda: leader.parked)
        assert named(leader.requests[3]) == [2]

    in_a_session(scenario)


def test_a_log_start_that_retention_moved_is_sent_within_the_sweep():
    async def scenario(broker, leader) -> None:
        leader.answer = lambda wanted: (
            records_of(0, wanted.fetch_offset)
            if wanted.partition == 0 and wanted.fetch_offset < 4
            else caught_up(wanted)
        )
        log = broker.partition(TOPIC, 0).log
        leader.parks = False
        leader.let_go()
        await until(lambda: log.high_watermark == 4)
        log.delete_records_before(2)

        def sent_start() -> bool:
            return any(
                each.log_start_offset == 2
                for request in leader.requests
                for topic in request.topics
                for each in topic.partitions
            )

        await until(sent_start)

    in_a_session(scenario)


def test_a_new_epoch_of_the_same_leader_asks_for_everything_at_once():
    async def scenario(broker, leader) -> None:
        broker.topic(TOPIC, leader=PEER, replicas=(ME, PEER), leader_epoch=2, partitions=5)
        await until(lambda: len(leader.requests) == 4)
        full = leader.requests[2]
        assert (full.session_epoch, len(named(full))) == (0, 5)
        assert {p.current_leader_epoch for p in full.topics[0].partitions} == {2}

    in_a_session(scenario)


def test_the_leaders_answer_is_asked_for_within_the_configured_bounds():
    async def run() -> None:
        broker = OneBroker(
            replica_fetch_response_max_bytes="70000",
            replica_fetch_max_bytes="30000",
            replica_fetch_min_bytes="3",
            replica_fetch_wait_max_ms="123",
        )
        leader = LeaderWithSessions(broker, caught_up)
        broker.topic(TOPIC, leader=PEER, replicas=(ME, PEER), leader_epoch=1)
        await until(lambda: leader.parked)
        full, first = leader.requests
        assert full.topics[0].partitions[0].partition_max_bytes == 30_000
        assert (first.max_bytes, first.min_bytes, first.max_wait_ms) == (70_000, 3, 123)
        await broker.stop()

    asyncio.run(run())
