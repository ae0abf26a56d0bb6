"""The coordinator's host: loading, unloading, markers on their way, running out of patience."""

import asyncio
import dataclasses

import pytest

from dataplane.broker.networking.peer_connection import PeerUnavailableError
from dataplane.broker.transactions import marker_sender, transaction_coordinator
from dataplane.cluster.image import ClusterImage
from dataplane.cluster.topic_names import TRANSACTIONS_TOPIC
from dataplane.log.segment.log_segment import LogSegment
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.transactions.requests import EndRequest, InitRequest, PartitionsRequest
from tests.dataplane.groups.hosted import ME, Hosted, markers_answer
from tests.metrics_table import sample

ID = "transfers"
T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)
PAUSED = 77
E = ErrorCode


@pytest.fixture
async def started():
    made = []

    async def start(*, wait=True, **settings) -> Hosted:
        made.append(await Hosted(**settings).start())
        if wait:
            await made[-1].loaded()
        return made[-1]

    yield start
    for hosted in made:
        await hosted.stop()


async def until(condition) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)


async def init(hosted, **fields):
    fields = {"transactional_id": ID, "timeout_ms": 60_000} | fields
    return await hosted.transaction_coordinator.init_producer_id(InitRequest(**fields))


async def producer(hosted) -> dict:
    result = await init(hosted)
    assert result.error is E.NONE
    return {
        "transactional_id": ID,
        "producer_id": result.producer_id,
        "producer_epoch": result.producer_epoch,
    }


async def add(hosted, one, *partitions) -> ErrorCode:
    request = PartitionsRequest(**one, partitions=frozenset(partitions))
    return await hosted.transaction_coordinator.add_partitions(request)


async def end(hosted, one, *, commit=True) -> ErrorCode:
    return await hosted.transaction_coordinator.end(EndRequest(**one, is_commit=commit))


def state(hosted) -> str:
    return hosted.transaction_coordinator.describe(ID).state


def where(hosted):
    return hosted.transaction_coordinator.partition_of(ID)


async def waits_for_replicas(hosted) -> None:
    """Until something was written that the other replica does not have."""
    partition = hosted.replica_manager.get(where(hosted))
    await until(lambda: partition.log.log_end_offset > partition.log.high_watermark)


def sent(hosted):
    """(epoch of the producer, commit or abort, topic, partitions) of every marker."""
    return [
        (marker.producer_epoch, marker.transaction_result, topic.name, topic.partition_indexes)
        for _broker, message in hosted.peers.asked
        for marker in message.markers
        for topic in marker.topics
    ]


def counted(hosted, what: str) -> float:
    return sample(hosted.handlers.metrics, f"penstock_transaction_{what}_total")


async def replicated(hosted, asking):
    """What is answered, with a replica that follows all the while."""
    asking = asyncio.ensure_future(asking)
    while not asking.done():
        hosted.replicate()
        await asyncio.sleep(0)
    return await asking


@pytest.mark.parametrize("commit", [True, False])
async def test_a_transaction_from_begin_to_end(started, commit):
    hosted = await started()
    one = await producer(hosted)
    assert await add(hosted, one, T0, T1) is E.NONE
    assert await end(hosted, one, commit=commit) is E.NONE
    await until(lambda: state(hosted).startswith("Complete"))
    assert state(hosted) == ("CompleteCommit" if commit else "CompleteAbort")
    assert sent(hosted) == [(0, commit, "t", [0, 1])]
    ((broker, message),) = hosted.peers.asked
    epoch = hosted.replica_manager.get(where(hosted)).leader_epoch
    assert (broker, message.markers[0].coordinator_epoch) == (ME, epoch)
    assert hosted.transaction_coordinator.states["CompleteCommit"] == int(commit)
    assert hosted.marker_sender.pending == 0


async def test_producer_ids_come_from_the_cluster(started):
    hosted = await started()
    first = await init(hosted)
    other = await init(hosted, transactional_id="other")
    assert {first.producer_id, other.producer_id} == {0, 1}


async def test_nobody_is_answered_before_replicas_have_it(started):
    hosted = await started(replicas=(1, 2))
    asking = asyncio.ensure_future(init(hosted))
    await waits_for_replicas(hosted)
    assert not asking.done()
    hosted.replicate()
    assert (await asking).error is E.NONE


async def test_who_is_not_the_coordinator_says_so(started):
    hosted = await started()
    await producer(hosted)
    hosted.follow(where(hosted))
    with pytest.raises(KafkaError) as refused:
        await init(hosted)
    assert refused.value.code is E.NOT_COORDINATOR


async def test_an_empty_id_is_a_bad_request(started):
    hosted = await started()
    with pytest.raises(KafkaError) as refused:
        await init(hosted, transactional_id="")
    assert refused.value.code is E.INVALID_REQUEST


async def test_without_the_topic_nobody_coordinates(started):
    hosted = await started()
    image = hosted.metadata_cache.image
    topics = {name: t for name, t in image.topics.items() if name != TRANSACTIONS_TOPIC}
    hosted.metadata_cache.replace(
        ClusterImage(cluster_id="c", brokers=image.brokers, topics=topics)
    )
    assert hosted.transaction_coordinator.partition_count == 50
    with pytest.raises(KafkaError) as refused:
        await init(hosted)
    assert refused.value.code is E.NOT_COORDINATOR


async def test_a_write_that_waits_fails_when_leadership_goes(started):
    hosted = await started(replicas=(1, 2))
    asking = asyncio.ensure_future(init(hosted))
    await waits_for_replicas(hosted)
    hosted.follow(where(hosted))
    result = await asking
    assert result.error is E.NOT_COORDINATOR


async def test_the_next_coordinator_goes_on_with_a_decision(started):
    hosted = await started()
    one = await producer(hosted)
    await add(hosted, one, T0)
    hosted.peers.answer = lambda _broker, m: markers_answer(m, E.NOT_LEADER_OR_FOLLOWER)
    assert await end(hosted, one) is E.NONE
    await until(lambda: counted(hosted, "marker_retries") > 0)
    hosted.follow(where(hosted))
    assert hosted.marker_sender.pending == 0
    hosted.peers.answer = None
    hosted.peers.asked.clear()
    hosted.lead(where(hosted))
    with pytest.raises(KafkaError) as refused:
        await init(hosted)
    assert refused.value.code is E.COORDINATOR_LOAD_IN_PROGRESS
    await hosted.loaded()
    await until(lambda: state(hosted) == "CompleteCommit")
    assert sent(hosted) == [(0, True, "t", [0])]
    assert (await producer(hosted))["producer_epoch"] == 1


async def test_no_marker_goes_out_before_what_was_loaded_is_committed(started):
    """The decision could be lost with this leader, and the opposite be taken by the next."""
    hosted = await started(replicas=(1, 2))
    one = await replicated(hosted, producer(hosted))
    await replicated(hosted, add(hosted, one, T0))
    asking = asyncio.ensure_future(end(hosted, one))
    await waits_for_replicas(hosted)
    hosted.follow(where(hosted))
    assert await asking is E.NOT_COORDINATOR
    hosted.lead(where(hosted))
    await asyncio.sleep(0.02)
    assert hosted.peers.asked == []
    with pytest.raises(KafkaError) as refused:
        await init(hosted)
    assert refused.value.code is E.COORDINATOR_LOAD_IN_PROGRESS
    hosted.replicate()
    await hosted.loaded()
    await until(lambda: sent(hosted))


async def test_an_open_transaction_survives_a_change_of_coordinators(started):
    hosted = await started()
    one = await producer(hosted)
    await add(hosted, one, T0)
    hosted.follow(where(hosted))
    hosted.lead(where(hosted))
    await hosted.loaded()
    assert await end(hosted, one) is E.NONE
    await until(lambda: state(hosted) == "CompleteCommit")
    assert sent(hosted) == [(0, True, "t", [0])]


@pytest.mark.parametrize(
    "error",
    [
        E.NOT_LEADER_OR_FOLLOWER,
        E.UNKNOWN_TOPIC_OR_PARTITION,
        E.NOT_ENOUGH_REPLICAS,
        E.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        E.REQUEST_TIMED_OUT,
        E.KAFKA_STORAGE_ERROR,
        E.UNKNOWN_SERVER_ERROR,
    ],
)
async def test_refused_markers_are_sent_again_and_only_they(started, error):
    hosted = await started()
    one = await producer(hosted)
    await add(hosted, one, T0, T1)

    def refuse_one(_broker, message):
        answer = markers_answer(message)
        for result in answer.markers[0].topics[0].partitions:
            if result.partition_index == 1 and len(hosted.peers.asked) < 3:
                result.error_code = error
        return answer

    hosted.peers.answer = refuse_one
    await end(hosted, one)
    await until(lambda: state(hosted) == "CompleteCommit")
    assert sent(hosted) == [(0, True, "t", [0, 1]), (0, True, "t", [1]), (0, True, "t", [1])]
    assert counted(hosted, "marker_retries") == 2


@pytest.mark.parametrize(
    "error", [PeerUnavailableError("gone"), TimeoutError(), KeyError("a bug of ours")]
)
async def test_a_lost_request_is_sent_again(started, error):
    hosted = await started()
    one = await producer(hosted)
    await add(hosted, one, T0)

    def lose_one(_broker, message):
        if len(hosted.peers.asked) == 1:
            raise error
        return markers_answer(message)

    hosted.peers.answer = lose_one
    await end(hosted, one)
    await until(lambda: state(hosted) == "CompleteCommit")
    assert len(hosted.peers.asked) == 2


async def test_an_answer_that_leaves_a_partition_out_does_not_count_for_it(started):
    hosted = await started()
    one = await producer(hosted)
    await add(hosted, one, T0, T1)

    def leave_out(_broker, message):
        answer = markers_answer(message)
        if len(hosted.peers.asked) == 1:
            del answer.markers[0].topics[0].partitions[1]
        return answer

    hosted.peers.answer = leave_out
    await end(hosted, one)
    await until(lambda: state(hosted) == "CompleteCommit")
    assert sent(hosted)[1] == (0, True, "t", [1])


@pytest.mark.parametrize("error", [E.INVALID_PRODUCER_EPOCH, E.TRANSACTION_COORDINATOR_FENCED])
async def test_a_fenced_coordinator_stops_sending(started, error):
    hosted = await started()
    one = await producer(hosted)
    await add(hosted, one, T0)
    hosted.peers.answer = lambda _broker, m: markers_answer(m, error)
    await end(hosted, one)
    await until(lambda: counted(hosted, "markers_fenced") == 1)
    await asyncio.sleep(0.1)
    assert len(hosted.peers.asked) == 1
    assert state(hosted) == "PrepareCommit"


async def test_a_partition_that_was_deleted_waits_for_no_marker(started):
    hosted = await started()
    one = await producer(hosted)
    await add(hosted, one, T0, TopicPartition("gone", 0), TopicPartition("t", 99))
    await end(hosted, one)
    await until(lambda: state(hosted) == "CompleteCommit")
    assert sent(hosted) == [(0, True, "t", [0])]


async def test_a_partition_without_a_leader_is_waited_for(started):
    hosted = await started()
    one = await producer(hosted)
    await add(hosted, one, T0)
    image = hosted.metadata_cache.image
    state_now = dataclasses.replace(image.topics["t"].partitions[0], leader=-1)
    leaderless = dataclasses.replace(image.topics["t"], partitions=(state_now,))
    hosted.metadata_cache.replace(
        dataclasses.replace(image, topics={**image.topics, "t": leaderless})
    )
    await end(hosted, one)
    await until(lambda: hosted.marker_sender.without_leader == 1)
    assert hosted.peers.asked == []
    hosted.metadata_cache.replace(image)
    await until(lambda: state(hosted) == "CompleteCommit")
    assert hosted.marker_sender.without_leader == 0


async def test_a_leader_that_leaves_the_cluster_is_not_waited_for(started):
    """One that was paused or unplugged answers nothing and refuses nothing, and who leads its
    partitions now is known long before the request has run out of time.
    """
    hosted = await started()
    one = await producer(hosted)
    await add(hosted, one, T0)
    after = hosted.metadata_cache.image
    paused = dataclasses.replace(after.topics["t"].partitions[0], leader=PAUSED)
    before = dataclasses.replace(
        after,
        brokers={**after.brokers, PAUSED: dataclasses.replace(after.brokers[ME], id=PAUSED)},
        topics={**after.topics, "t": dataclasses.replace(after.topics["t"], partitions=(paused,))},
    )
    hosted.metadata_cache.replace(before)
    hosted.peers.gate.clear()
    await end(hosted, one)
    await until(lambda: hosted.peers.asked)
    hosted.peers.gate = asyncio.Event()  # of those that answer; the paused one keeps the other
    hosted.peers.gate.set()
    hosted.metadata_cache.replace(after)
    await until(lambda: state(hosted) == "CompleteCommit")
    assert [broker for broker, _ in hosted.peers.asked] == [PAUSED, ME]
    assert counted(hosted, "marker_retries") == 1


async def test_many_transactions_share_a_request(started):
    hosted = await started()
    ids = [f"id-{number}" for number in range(40)]

    async def run(name):
        result = await init(hosted, transactional_id=name)
        one = {
            "transactional_id": name,
            "producer_id": result.producer_id,
            "producer_epoch": result.producer_epoch,
        }
        await add(hosted, one, T0)
        assert await end(hosted, one) is E.NONE

    hosted.peers.gate.clear()
    await asyncio.gather(*(run(name) for name in ids))
    hosted.peers.gate.set()
    await until(lambda: hosted.transaction_coordinator.states["CompleteCommit"] == len(ids))
    assert len(sent(hosted)) == len(ids)
    assert len(hosted.peers.asked) == 2


async def test_retries_slow_down(started, monkeypatch):
    hosted = await started()
    delays = []
    loop = asyncio.get_running_loop()
    real = loop.call_later

    def call_later(delay_s, callback, *args, **kwargs):
        if getattr(callback, "__qualname__", "").startswith("MarkerSender._retry"):
            delays.append(delay_s)
            delay_s = 0
        return real(delay_s, callback, *args, **kwargs)

    monkeypatch.setattr(loop, "call_later", call_later)
    hosted.peers.answer = lambda _broker, m: markers_answer(m, E.NOT_LEADER_OR_FOLLOWER)
    one = await producer(hosted)
    await add(hosted, one, T0)
    await end(hosted, one)
    await until(lambda: len(delays) > 9)
    assert delays[:3] == [0.02, 0.04, 0.08]
    assert max(delays) == marker_sender.RETRY_MS_MAX / 1000


async def test_a_late_decision_is_carried_out(started, monkeypatch):
    """The producer was given up on; its commit reaches the replicas nevertheless."""
    monkeypatch.setattr(transaction_coordinator, "WRITE_TIMEOUT_MS", 200)
    hosted = await started(replicas=(1, 2))
    one = await replicated(hosted, producer(hosted))
    assert await replicated(hosted, add(hosted, one, T0)) is E.NONE
    assert await end(hosted, one) is E.COORDINATOR_NOT_AVAILABLE
    assert await end(hosted, one, commit=False) is E.CONCURRENT_TRANSACTIONS
    assert hosted.peers.asked == []
    hosted.replicate()
    await until(lambda: sent(hosted))
    assert sent(hosted) == [(0, True, "t", [0])]


async def test_slow_transactions_are_aborted_by_the_clock(started):
    interval = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
    hosted = await started(**{interval.replace(".", "_"): "10"})
    one = await producer(hosted)
    await add(hosted, one, T0)
    hosted.clock.advance(60_001)
    await until(lambda: state(hosted) == "CompleteAbort")
    assert hosted.transaction_coordinator.timed_out == 1
    assert await end(hosted, one) is E.PRODUCER_FENCED
    hosted.follow(where(hosted))
    assert hosted.transaction_coordinator.timed_out == 1


async def test_idle_ids_expire_by_the_clock(started):
    interval = "transaction.remove.expired.transaction.cleanup.interval.ms"
    hosted = await started(
        **{interval.replace(".", "_"): "10", "transactional_id_expiration_ms": "1000"}
    )
    await producer(hosted)
    hosted.clock.advance(1001)
    await until(
        lambda: hosted.transaction_coordinator.describe(ID).error is E.TRANSACTIONAL_ID_NOT_FOUND
    )


async def test_more_ids_than_one_round_forgets_do_not_wait_for_the_next_interval(
    started, monkeypatch
):
    """Else whoever makes new ids faster than that fills the memory: rounds are an hour apart."""
    configured = transaction_coordinator.settings_from
    monkeypatch.setattr(
        transaction_coordinator,
        "settings_from",
        lambda config: dataclasses.replace(configured(config), expired_per_round_max=3),
    )
    monkeypatch.setattr(transaction_coordinator, "EXPIRY_PAUSE_S", 0.001, raising=False)
    interval = "transaction.remove.expired.transaction.cleanup.interval.ms"
    hosted = await started(
        partition_count=1,
        **{interval.replace(".", "_"): "200", "transactional_id_expiration_ms": "1000"},
    )
    for number in range(20):
        await init(hosted, transactional_id=f"job-{number}")
    hosted.clock.advance(1001)
    listed = hosted.transaction_coordinator.list_transactions
    assert len(listed()[1]) == 20
    await until(lambda: len(listed()[1]) < 20)
    async with asyncio.timeout(0.15):
        while listed()[1]:
            await asyncio.sleep(0.001)


async def test_a_list_is_whole_or_an_error(started):
    hosted = await started()
    await producer(hosted)
    error, listed = hosted.transaction_coordinator.list_transactions()
    assert (error, [each.transactional_id for each in listed]) == (E.NONE, [ID])
    hosted.follow(where(hosted))
    hosted.lead(where(hosted))
    assert hosted.transaction_coordinator.list_transactions() == (
        E.COORDINATOR_LOAD_IN_PROGRESS,
        [],
    )


async def test_a_broker_that_stops_coordinates_nothing(started):
    hosted = await started()
    await producer(hosted)
    await hosted.transaction_coordinator.stop()
    with pytest.raises(KafkaError) as refused:
        await init(hosted)
    assert refused.value.code is E.COORDINATOR_NOT_AVAILABLE
    assert hosted.transaction_coordinator.list_transactions() == (E.COORDINATOR_NOT_AVAILABLE, [])


async def test_a_decision_that_the_disk_refused_can_be_made_again(started, monkeypatch):
    """Seed 20 of the simulator: the id answered CONCURRENT_TRANSACTIONS for ever."""
    hosted = await started()
    one = await producer(hosted)
    await add(hosted, one, T0)
    refusals, append = [OSError(28, "No space left on device")], LogSegment.append

    def full(segment, parts, batches):
        if refusals:
            raise refusals.pop()
        append(segment, parts, batches)

    monkeypatch.setattr(LogSegment, "append", full)
    assert await end(hosted, one) is E.NOT_COORDINATOR, "clients look for it, and ask again"
    assert await end(hosted, one) is E.NONE
    await until(lambda: state(hosted) == "CompleteCommit")
