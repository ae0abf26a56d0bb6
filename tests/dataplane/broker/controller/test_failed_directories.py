"""A log directory fails under a living broker: its replicas go offline, and only they."""

from __future__ import annotations

import itertools
import json

from dataplane.broker.metadata.log_dir_events import report_failure
from dataplane.cluster import znodes
from dataplane.cluster.alter_partition import IsrProposal
from dataplane.cluster.election import ElectionType
from dataplane.cluster.responses import LeaderAndIsrResult
from dataplane.cluster.topic_plans import TopicRequest
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from tests.dataplane.broker.controller.fake_brokers import active, ask_again, by_name, until
from tests.dataplane.broker.controller.test_controller import create_settled

LOST, KEPT, FOLLOWED = (TopicPartition("t", index) for index in range(3))


async def three_with_topic(cluster):
    """Broker 1 leads partitions 0 and 1 and follows in 2; none of them is the controller's alone."""
    brokers = await cluster(1, 2, 3)
    await create_settled(
        brokers, TopicRequest("t", assignments={0: [1, 2, 3], 1: [1, 2, 3], 2: [2, 1, 3]})
    )
    return brokers


async def fail(broker, *partitions):
    broker.failed = set(partitions)
    await report_failure(broker.coordinator, broker.id)


def seen(broker, partition):
    return broker.image.topics[partition.topic].partitions[partition.partition]


async def notifications(broker):
    return await broker.coordinator.children(znodes.LOG_DIR_EVENTS)


async def test_its_replicas_lose_leadership_and_leave_the_isr_and_the_node_is_removed(cluster):
    brokers = await three_with_topic(cluster)
    await fail(brokers[0], LOST, FOLLOWED)
    await until(lambda: all(seen(b, LOST).leader == 2 for b in brokers), what="another leader")
    await until(lambda: all(seen(b, FOLLOWED).isr == (2, 3) for b in brokers))
    for broker in brokers:
        assert seen(broker, LOST).isr == (2, 3)
        assert seen(broker, LOST).leader_epoch == 1
        assert seen(broker, LOST).offline_replicas == (1,)
        assert (seen(broker, KEPT).leader, seen(broker, KEPT).isr) == (1, (1, 2, 3))
        assert seen(broker, KEPT).leader_epoch == 0
        assert seen(broker, KEPT).offline_replicas == ()
    assert active(brokers).host.context.offline_on(1) == {LOST, FOLLOWED}
    await until(lambda: not brokers[0].coordinator.zookeeper.find(znodes.LOG_DIR_EVENTS).children)


async def test_the_next_controller_learns_it_from_the_first_answers(cluster):
    brokers = await three_with_topic(cluster)
    await fail(brokers[0], LOST)
    await until(lambda: all(seen(b, LOST).leader == 2 for b in brokers))
    before = active(brokers).host.epoch
    # Left by a broker between two controllers: removed unread, everybody is asked anyway.
    controller = active(brokers)
    controller.coordinator.ignore(znodes.LOG_DIR_EVENTS)
    await report_failure(brokers[1].coordinator, 2)
    await brokers[1].coordinator.delete(znodes.CONTROLLER)
    await until(lambda: (leader := active(brokers)) and leader.host.epoch > before)
    context = active(brokers).host.context
    await until(lambda: context.offline_on(1) == {LOST}, what="what broker 1 answers")
    assert context.offline_on(2) == frozenset()
    assert context.state(LOST).leader == 2
    assert await notifications(brokers[0]) == []


async def test_an_offline_replica_is_neither_elected_nor_let_into_the_isr(cluster):
    brokers = await three_with_topic(cluster)
    await fail(brokers[0], LOST)
    await until(lambda: all(seen(b, LOST).leader == 2 for b in brokers))
    host = active(brokers).host
    context = host.context
    state = context.state(LOST)
    proposal = IsrProposal(
        LOST, state.leader_epoch, state.partition_epoch, dict.fromkeys((2, 3, 1), -1)
    )
    answers = await host.submit(
        lambda c: c.isr_changes.alter_partitions(2, context.brokers[2].epoch, [proposal])
    )
    assert answers[LOST] is ErrorCode.INELIGIBLE_REPLICA
    results = await host.submit(lambda c: c.elections.elect_leaders(ElectionType.PREFERRED, [LOST]))
    assert results[LOST].code is ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    await host.submit(lambda c: c.elections.balance())
    assert context.state(LOST).leader == 2


async def test_the_last_replica_in_sync_waits_for_its_directory_and_leads_again(cluster):
    brokers = await cluster(1, 2)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1]}))
    await fail(brokers[0], LOST)
    await until(lambda: all(seen(b, LOST).leader == -1 for b in brokers), what="no leader")
    assert seen(brokers[0], LOST).isr == (1,)
    brokers[0].failed = set()  # as when a full disk has space again
    host = active(brokers).host
    await ask_again(active(brokers))
    await until(lambda: all(seen(b, LOST).leader == 1 for b in brokers), what="the leader back")
    assert seen(brokers[0], LOST).leader_epoch == 2
    assert host.context.brokers_with_offline == []


async def test_who_stays_offline_is_asked_ever_more_rarely(cluster):
    brokers = await three_with_topic(cluster)
    await fail(brokers[0], LOST)
    await until(lambda: all(seen(b, LOST).leader == 2 for b in brokers))
    host, clock = active(brokers).host, active(brokers).clock
    asked_at_ms = []
    for _ in range(200):
        before = len(brokers[0].requests)
        await host.submit(lambda c: c.offline_replicas.ask_again())
        assert await host.propagated(5000)
        if len(brokers[0].requests) != before:
            asked_at_ms.append(clock.monotonic_ms())
        clock.advance(1_000)
    gaps = [b - a for a, b in itertools.pairwise(asked_at_ms)]
    assert gaps[:6] == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000]
    assert set(gaps[6:]) == {60_000}


async def test_a_restarted_broker_is_taken_for_whole_again(cluster):
    brokers = await three_with_topic(cluster)
    victim = next(b for b in brokers if b is not active(brokers))
    tp = TopicPartition("t", 0)
    await fail(victim, tp)
    context = active(brokers).host.context
    await until(lambda: context.offline_on(victim.id) == {tp})
    await victim.die()
    victim.coordinator.zookeeper.end_session(victim.coordinator.session_id)
    await until(lambda: victim.id not in context.brokers)
    (again,) = await cluster(victim.id)
    await until(lambda: again.roles.keys() >= {tp})
    assert context.offline_on(victim.id) == frozenset()
    assert seen(again, tp).offline_replicas == ()


async def test_a_deletion_halts_for_a_failed_directory_and_goes_on_with_it(cluster):
    brokers = await three_with_topic(cluster)
    await fail(brokers[0], LOST)
    await until(lambda: all(seen(b, LOST).leader == 2 for b in brokers))
    host = active(brokers).host
    outcome = await host.submit(lambda c: c.topic_deletion.delete_topics(by_name("t")))
    await until(lambda: all("t" not in b.image.topics for b in brokers))
    await until(lambda: sorted(brokers[1].deleted) == [LOST, KEPT, FOLLOWED])
    await until(lambda: sorted(brokers[0].deleted) == [KEPT, FOLLOWED])
    assert not outcome["t"].done()
    await brokers[0].restart()
    await outcome["t"]
    assert sorted(brokers[0].deleted) == [LOST, KEPT, FOLLOWED]
    assert await brokers[1].coordinator.exists("/brokers/topics/t") is None


async def test_a_halted_deletion_goes_on_when_the_directory_heals_by_itself(cluster):
    """As when a full disk has space again: the broker is not restarted (seed 201577)."""
    brokers = await three_with_topic(cluster)
    await fail(brokers[0], LOST)
    await until(lambda: all(seen(b, LOST).leader == 2 for b in brokers))
    host = active(brokers).host
    outcome = await host.submit(lambda c: c.topic_deletion.delete_topics(by_name("t")))
    await until(lambda: sorted(brokers[0].deleted) == [KEPT, FOLLOWED])
    await ask_again(active(brokers))  # in vain: it is asked, cannot yet, and is asked once more
    assert await host.propagated(5000)
    brokers[0].failed = set()
    assert not outcome["t"].done()
    await ask_again(active(brokers))
    await until(outcome["t"].done, what="the deletion")
    assert sorted(brokers[0].deleted) == [LOST, KEPT, FOLLOWED]
    assert host.context.brokers_with_offline == []
    assert await brokers[1].coordinator.exists("/brokers/topics/t") is None


async def test_a_notification_that_nobody_understands_is_removed(cluster):
    brokers = await three_with_topic(cluster)
    for data in (b"", b"nonsense", b"[]", json.dumps({"broker": "x"}).encode(), b'{"event":1}'):
        await brokers[0].coordinator.create(
            f"{znodes.LOG_DIR_EVENTS}/log_dir_event_", data, sequential=True
        )
    await fail(brokers[0], LOST)
    await until(lambda: all(seen(b, LOST).leader == 2 for b in brokers))
    await until(lambda: not brokers[0].coordinator.zookeeper.find(znodes.LOG_DIR_EVENTS).children)


async def test_an_answer_of_an_earlier_life_is_ignored(cluster):
    brokers = await three_with_topic(cluster)
    host = active(brokers).host
    stale = LeaderAndIsrResult(host.context.brokers[1].epoch - 1, frozenset({LOST}), frozenset())
    await host.submit(lambda c: c.offline_replicas.answered(1, stale))
    assert host.context.state(LOST).leader == 1


async def test_a_deletion_waits_for_a_running_move_and_begins_when_it_has_ended(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    host, tp = active(brokers).host, TopicPartition("t", 0)
    context = host.context
    await host.submit(lambda c: c.reassignment.reassign({tp: (1, 3)}))
    outcome = await host.submit(lambda c: c.topic_deletion.delete_topics(by_name("t")))
    await host.propagated(1000)
    assert all("t" in b.image.topics for b in brokers)
    assert not outcome["t"].done()
    refused = await host.submit(lambda c: c.reassignment.reassign({tp: (2, 3)}))
    assert refused[tp].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    state = context.state(tp)
    proposal = IsrProposal(
        tp, state.leader_epoch, state.partition_epoch, dict.fromkeys((1, 2, 3), -1)
    )
    await host.submit(
        lambda c: c.isr_changes.alter_partitions(1, context.brokers[1].epoch, [proposal])
    )
    await host.submit(lambda c: c.reassignment.complete_ready([tp]))
    await outcome["t"]
    assert all("t" not in b.image.topics for b in brokers)
    assert all(tp in b.deleted for b in brokers)


async def test_what_is_to_be_deleted_is_not_set_aside_first(cluster):
    """A broker that was away while a topic was deleted: its full command would make it a stray."""
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", 1, 3), TopicRequest("u", 1, 3))
    victim = next(b for b in brokers if b is not active(brokers))
    await victim.die()
    victim.coordinator.zookeeper.end_session(victim.coordinator.session_id)
    context = active(brokers).host.context
    await until(lambda: victim.id not in context.brokers)
    outcome = await active(brokers).host.submit(
        lambda c: c.topic_deletion.delete_topics(by_name("t"))
    )
    (again,) = await cluster(victim.id)
    await outcome["t"]
    names = [type(request).__name__ for request in again.requests]
    assert names.index("StopReplicaRequest") < names.index("LeaderAndIsrRequest")
    assert again.deleted == [TopicPartition("t", 0)]
