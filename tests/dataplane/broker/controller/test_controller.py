"""The controller against an in-memory ZooKeeper and brokers that only obey."""

from __future__ import annotations

import asyncio
import json

import pytest

from dataplane.cluster import znodes
from dataplane.cluster.alter_partition import IsrProposal
from dataplane.cluster.election import ElectionType
from dataplane.cluster.topic_plans import TopicRequest
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.ports.coordinator import ConnectionLossError
from tests.dataplane.broker.controller.fake_brokers import active, by_name, until


async def create(brokers, *requests, **options):
    host = active(brokers).host
    return await host.submit(
        lambda c: c.topic_creation.create_topics(
            list(requests), validate_only=options.get("validate_only", False)
        )
    )


async def create_settled(brokers, *requests):
    results = await create(brokers, *requests)
    assert await active(brokers).host.propagated(5000)
    return results


async def test_one_controller_is_elected_and_everybody_knows(cluster):
    brokers = await cluster(1, 2, 3)
    leader = active(brokers)
    await until(lambda: all(b.host.controller_id == leader.id for b in brokers))
    for broker in brokers:
        assert set(broker.image.brokers) == {1, 2, 3}
        assert broker.image.controller_id == leader.id
        assert broker.image.controller_epoch == 1
    data, _ = await brokers[0].coordinator.get(znodes.CONTROLLER_EPOCH)
    assert data == b"1"


async def test_create_topic_reaches_zookeeper_replicas_and_all_images(cluster):
    brokers = await cluster(1, 2, 3, 4)
    results = await create_settled(
        brokers, TopicRequest("t", 4, 3, configs={"retention.ms": "1000"})
    )
    plan = results["t"]
    for broker in brokers:
        topic = broker.image.topics["t"]
        assert topic.topic_id == plan.topic_id
        assert [p.replicas for p in topic.partitions] == list(plan.replicas.values())
        assert all(p.leader == p.replicas[0] for p in topic.partitions)
        held = {i for i, replicas in plan.replicas.items() if broker.id in replicas}
        assert {tp.partition for tp in broker.roles} == held
        assert broker.new_roles == set(broker.roles)
    zk = brokers[0].coordinator
    node = znodes.decode_topic((await zk.get("/brokers/topics/t"))[0])
    assert node.topic_id == plan.topic_id
    data, stat = await zk.get("/brokers/topics/t/partitions/0/state")
    state = znodes.decode_state(PartitionState(index=0), data, stat.version)
    assert state.leader_epoch == 0
    assert state.partition_epoch == 0
    assert state.controller_epoch == 1
    await until(
        lambda: all(b.configs.overrides("topics", "t") == {"retention.ms": "1000"} for b in brokers)
    )
    assert brokers[1].configs.topic_config("t").get_int("retention.ms") == 1000


async def test_refusals_come_by_topic_and_do_not_stop_the_others(cluster):
    brokers = await cluster(1, 2)
    results = await create(
        brokers,
        TopicRequest("a.b", 1, 1),
        TopicRequest("a_b", 1, 1),
        TopicRequest("bad/name", 1, 1),
        TopicRequest("wide", 1, 3),
        TopicRequest("none", 0, 1),
        TopicRequest("manual", assignments={0: [2], 1: [1]}),
        TopicRequest("ghost", assignments={0: [9]}),
    )
    codes = {n: r.code.name if isinstance(r, KafkaError) else "OK" for n, r in results.items()}
    assert codes == {
        "a.b": "OK",
        "a_b": "INVALID_TOPIC_EXCEPTION",
        "bad/name": "INVALID_TOPIC_EXCEPTION",
        "wide": "INVALID_REPLICATION_FACTOR",
        "none": "INVALID_PARTITIONS",
        "manual": "OK",
        "ghost": "INVALID_REPLICA_ASSIGNMENT",
    }
    again = await create(brokers, TopicRequest("manual", 1, 1))
    assert again["manual"].code is ErrorCode.TOPIC_ALREADY_EXISTS
    dry = await create(brokers, TopicRequest("dry", 1, 1), validate_only=True)
    assert dry["dry"].replication_factor == 1
    assert await brokers[0].coordinator.exists("/brokers/topics/dry") is None


async def test_a_thousand_topics_cost_few_writes_and_few_commands(cluster):
    brokers = await cluster(1, 2, 3)
    for broker in brokers:
        broker.requests.clear()
    before = sum(b.coordinator.writes for b in brokers)
    await create_settled(brokers, *(TopicRequest(f"t{n}", 1, 3) for n in range(1000)))
    assert sum(b.coordinator.writes for b in brokers) - before <= 20
    assert all(len(b.requests) <= 4 for b in brokers)
    assert all(len(b.roles) == 1000 and len(b.image.topics) == 1000 for b in brokers)


async def test_a_dead_brokers_partitions_get_new_leaders(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2, 3], 1: [2, 3, 1]}))
    controller = active(brokers)
    victim = next(b for b in brokers if b is not controller)
    epochs = {p.index: p.leader_epoch for p in controller.image.topics["t"].partitions}
    await victim.die()
    victim.coordinator.zookeeper.end_session(victim.coordinator.session_id)
    rest = [b for b in brokers if b is not victim]

    def moved():
        return all(
            p.leader in {b.id for b in rest}
            and victim.id not in p.isr
            and p.leader_epoch > epochs[p.index]
            and p.offline_replicas == (victim.id,)
            for b in rest
            for p in b.image.topics["t"].partitions
        )

    await until(moved)
    for broker in rest:
        for index in (0, 1):
            role = broker.roles[TopicPartition("t", index)]
            assert role.leader == broker.image.topics["t"].partitions[index].leader


async def test_the_controllers_death_hands_over_with_a_higher_epoch(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", 3, 3))
    old = active(brokers)
    await old.die()
    old.coordinator.zookeeper.end_session(old.coordinator.session_id)
    rest = [b for b in brokers if b is not old]
    await until(lambda: active(rest))
    await until(lambda: all(b.image.controller_epoch == 2 for b in rest))
    await until(
        lambda: all(p.leader != old.id for b in rest for p in b.image.topics["t"].partitions)
    )


async def test_the_last_in_sync_replica_keeps_its_place_and_returns_as_leader(cluster, tmp_path):
    brokers = await cluster(1, 2)
    controller = active(brokers)
    other = next(b for b in brokers if b is not controller)
    await create_settled(brokers, TopicRequest("t", assignments={0: [other.id]}))
    await other.die()
    other.coordinator.zookeeper.end_session(other.coordinator.session_id)
    await until(lambda: controller.image.topics["t"].partitions[0].leader == -1)
    assert controller.image.topics["t"].partitions[0].isr == (other.id,)
    again = await cluster(other.id)
    await until(lambda: controller.image.topics["t"].partitions[0].leader == other.id)
    await until(lambda: again[0].roles)
    assert again[0].image.topics.keys() == {"t"}


async def test_delete_topic_removes_data_nodes_and_images(cluster):
    brokers = await cluster(1, 2, 3)
    first = await create_settled(brokers, TopicRequest("t", 2, 3, configs={"retention.ms": "5"}))
    host = active(brokers).host
    outcomes = await host.submit(lambda c: c.topic_deletion.delete_topics(by_name("t", "nope")))
    assert outcomes["nope"].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    await asyncio.wait_for(outcomes["t"], 5)
    zk = brokers[0].coordinator
    for path in ("/brokers/topics/t", "/config/topics/t", "/admin/delete_topics/t"):
        assert await zk.exists(path) is None
    assert await host.propagated(1000)
    assert all("t" not in b.image.topics for b in brokers)
    assert all(len(b.deleted) == 2 and not b.roles for b in brokers)
    second = await create_settled(brokers, TopicRequest("t", 1, 1))
    assert second["t"].topic_id != first["t"].topic_id
    assert all(len(b.image.topics["t"].partitions) == 1 for b in brokers)


async def test_deletion_halts_for_a_dead_broker_and_goes_on_when_it_is_back(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", 1, 3))
    controller = active(brokers)
    victim = next(b for b in brokers if b is not controller)
    await victim.die()
    victim.coordinator.zookeeper.end_session(victim.coordinator.session_id)
    rest = [b for b in brokers if b is not victim]
    await until(lambda: set(controller.image.brokers) == {b.id for b in rest})
    outcome = await controller.host.submit(lambda c: c.topic_deletion.delete_topics(by_name("t")))
    await until(lambda: all(b.deleted for b in rest))
    await until(lambda: all("t" not in b.image.topics for b in rest))
    assert not outcome["t"].done()
    refused = await create(rest, TopicRequest("t", 1, 1))
    assert "marked for deletion" in refused["t"].message
    again = await cluster(victim.id)
    await asyncio.wait_for(outcome["t"], 5)
    assert again[0].deleted == [TopicPartition("t", 0)]
    assert await controller.coordinator.exists("/brokers/topics/t") is None


async def test_deletion_goes_on_under_the_next_controller(cluster):
    brokers = await cluster(1, 2)
    await create_settled(brokers, TopicRequest("t", 3, 2))
    old = active(brokers)
    await old.coordinator.create("/admin/delete_topics/t")
    other = next(b for b in brokers if b is not old)
    await old.stop()
    old.reachable = False
    await until(lambda: other.host.is_active)
    await until(lambda: "t" not in other.image.topics)
    await cluster(old.id)
    zk = other.coordinator
    async with asyncio.timeout(5):
        while await zk.exists("/brokers/topics/t") is not None:
            await asyncio.sleep(0.01)


async def test_create_partitions(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", 1, 2))
    host = active(brokers).host

    async def grow(count, **kw):
        await host.submit(
            lambda c: c.topic_creation.create_partitions(
                "t", count, kw.get("assignments"), validate_only=False
            )
        )

    await grow(4)
    await host.propagated(1000)
    assert all(len(b.image.topics["t"].partitions) == 4 for b in brokers)
    assert all(len(p.replicas) == 2 for p in brokers[0].image.topics["t"].partitions)
    for bad in (4, 2):
        with pytest.raises(KafkaError) as refused:
            await grow(bad)
        assert refused.value.code is ErrorCode.INVALID_PARTITIONS
    await grow(5, assignments=[[3, 1]])
    await host.propagated(1000)
    assert brokers[0].image.topics["t"].partitions[4].replicas == (3, 1)
    with pytest.raises(KafkaError) as factor:
        await grow(6, assignments=[[3]])
    assert factor.value.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT


async def alter_isr(host, leader, partition, isr, **fields):
    context = host.context
    state = context.state(partition)
    proposal = IsrProposal(
        partition,
        fields.get("leader_epoch", state.leader_epoch),
        fields.get("partition_epoch", state.partition_epoch),
        dict.fromkeys(isr, -1),
    )
    answers = await host.submit(
        lambda c: c.isr_changes.alter_partitions(leader, context.brokers[leader].epoch, [proposal])
    )
    return answers[partition]


async def test_alter_partition_writes_and_spreads(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2, 3]}))
    host, tp = active(brokers).host, TopicPartition("t", 0)
    answer = await alter_isr(host, 1, tp, [1, 2])
    assert answer.isr == (1, 2)
    assert answer.partition_epoch == 1
    assert answer.leader_epoch == 0
    await until(lambda: all(b.image.topics["t"].partitions[0].isr == (1, 2) for b in brokers))
    stale = await alter_isr(host, 1, tp, [1], partition_epoch=0)
    assert stale is ErrorCode.INVALID_UPDATE_VERSION
    assert await alter_isr(host, 2, tp, [2]) is ErrorCode.INVALID_REQUEST
    assert await alter_isr(host, 1, tp, [1], leader_epoch=-1) is ErrorCode.FENCED_LEADER_EPOCH


async def test_reassignment_adds_waits_moves_and_removes(cluster):
    brokers = await cluster(1, 2, 3, 4)
    by_id = {b.id: b for b in brokers}
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    host, tp = active(brokers).host, TopicPartition("t", 0)
    results = await host.submit(lambda c: c.reassignment.reassign({tp: (3, 4)}))
    assert results == {tp: None}
    await host.propagated(1000)
    state = host.context.state(tp)
    assert state.replicas == (3, 4, 1, 2)
    assert state.adding == (3, 4)
    assert state.removing == (1, 2)
    assert tp in by_id[3].new_roles
    node = znodes.decode_topic((await brokers[0].coordinator.get("/brokers/topics/t"))[0])
    assert node.adding == {0: (3, 4)}

    async def ongoing(term):
        return term.reassignment.ongoing(None)

    assert list(await host.submit(ongoing)) == [tp]
    await alter_isr(host, 1, tp, [1, 2, 3, 4])
    await host.submit(lambda c: c.reassignment.complete_ready([tp]))
    await host.propagated(1000)
    state = host.context.state(tp)
    assert (state.replicas, state.isr, state.leader) == ((3, 4), (3, 4), 3)
    assert not state.is_reassigning
    assert by_id[1].deleted == by_id[2].deleted == [tp]
    assert all(b.image.topics["t"].partitions[0].replicas == (3, 4) for b in brokers)
    node = znodes.decode_topic((await brokers[0].coordinator.get("/brokers/topics/t"))[0])
    assert (node.replicas, node.adding, node.removing) == ({0: (3, 4)}, {}, {})


async def test_reassignment_can_be_cancelled(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    host, tp = active(brokers).host, TopicPartition("t", 0)
    await host.submit(lambda c: c.reassignment.reassign({tp: (1, 3)}))
    results = await host.submit(lambda c: c.reassignment.reassign({tp: None}))
    assert results == {tp: None}
    await host.propagated(1000)
    state = host.context.state(tp)
    assert (state.replicas, state.adding, state.removing) == ((1, 2), (), ())
    assert next(b for b in brokers if b.id == 3).deleted == [tp]
    again = await host.submit(lambda c: c.reassignment.reassign({tp: None}))
    assert again[tp].code is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    bad = await host.submit(lambda c: c.reassignment.reassign({tp: (1, 9)}))
    assert bad[tp].code is ErrorCode.INVALID_REPLICA_ASSIGNMENT


async def test_preferred_election_and_balance(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2, 3]}))
    host, tp = active(brokers).host, TopicPartition("t", 0)

    async def elect(kind, partitions):
        return await host.submit(lambda c: c.elections.elect_leaders(kind, partitions))

    needless = await elect(ElectionType.PREFERRED, [tp])
    assert needless[tp].code is ErrorCode.ELECTION_NOT_NEEDED
    assert await elect(ElectionType.PREFERRED, None) == {}
    remaining = await host.submit(
        lambda c: c.controlled_shutdown.shut_down(1, c.context.brokers[1].epoch)
    )
    assert remaining == []
    state = host.context.state(tp)
    assert state.leader == 2
    assert state.isr == (2, 3)
    host.context.shutting_down.clear()
    away = await elect(ElectionType.PREFERRED, [tp])
    assert away[tp].code is ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    await alter_isr(host, 2, tp, [1, 2, 3])
    await host.submit(lambda c: c.elections.balance())
    assert host.context.state(tp).leader == 1


async def test_a_lost_answer_makes_the_controller_read_the_truth(cluster):
    brokers = await cluster(1, 2, 3)
    leader = active(brokers)
    leader.coordinator.lose_reply_of_next()
    with pytest.raises(KafkaError) as refused:
        await create(brokers, TopicRequest("t", 1, 3))
    assert refused.value.code is ErrorCode.NOT_CONTROLLER
    await until(lambda: active(brokers))
    await until(lambda: all("t" in b.image.topics for b in brokers))
    again = await create(brokers, TopicRequest("t", 1, 3))
    assert again["t"].code is ErrorCode.TOPIC_ALREADY_EXISTS


async def test_a_failed_write_leaves_no_trace_in_memory(cluster):
    brokers = await cluster(1)
    leader = active(brokers)
    leader.coordinator.fail_next(ConnectionLossError())
    with pytest.raises(KafkaError):
        await create(brokers, TopicRequest("t", 1, 1))
    await until(lambda: active(brokers))
    results = await create_settled(brokers, TopicRequest("t", 1, 1))
    assert not isinstance(results["t"], KafkaError)


async def test_an_expired_controller_registers_again_and_writes_nothing_under_its_old_epoch(
    cluster,
):
    brokers = await cluster(1, 2)
    await create_settled(brokers, TopicRequest("t", 2, 2))
    old = active(brokers)
    epoch = old.lifecycle.broker_epoch
    old.coordinator.expire()
    await until(lambda: active(brokers))
    await until(lambda: old.lifecycle.broker_epoch > epoch)
    await until(lambda: all(set(b.image.brokers) == {1, 2} for b in brokers))
    await until(lambda: all(b.image.controller_epoch >= 2 for b in brokers))
    await create_settled(brokers, TopicRequest("after", 1, 2))


async def test_a_deposed_controller_is_refused_by_zookeeper(cluster):
    """The epoch moved on without the old controller having heard: its next write must fail."""
    brokers = await cluster(1)
    leader = active(brokers)
    zk = leader.coordinator
    data, stat = await zk.get(znodes.CONTROLLER_EPOCH)
    await zk.set(znodes.CONTROLLER_EPOCH, str(int(data) + 1).encode(), stat.version)
    with pytest.raises(KafkaError) as refused:
        await create(brokers, TopicRequest("t", 1, 1))
    assert refused.value.code is ErrorCode.NOT_CONTROLLER
    assert await zk.exists("/brokers/topics/t") is None


async def test_producer_ids_come_in_blocks_that_never_overlap(cluster):
    brokers = await cluster(1, 2)
    host = active(brokers).host

    async def allocate(broker):
        return await host.submit(
            lambda c: c.producer_ids.allocate(broker, c.context.brokers[broker].epoch)
        )

    blocks = [await allocate(1), await allocate(2), await allocate(1)]
    ids = [n for b in blocks for n in (b.first_id, b.last_id)]
    assert ids == [0, 999, 1000, 1999, 2000, 2999]


async def test_racks_are_spread(cluster):
    brokers = await cluster(1, 2, 3, 4, racks={1: "a", 2: "a", 3: "b", 4: "c"})
    results = await create(brokers, TopicRequest("t", 12, 3))
    rack = {1: "a", 2: "a", 3: "b", 4: "c"}
    assert all({rack[r] for r in rs} == {"a", "b", "c"} for rs in results["t"].replicas.values())


async def test_a_new_controller_takes_an_unnoticed_restart_for_a_death(cluster):
    """No controller saw broker 1 go and come back: it may have lost its unsynced tail, and in its
    old epoch it could write other records at the same offsets."""
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: (1, 2, 3)}))
    zk = brokers[1].coordinator
    known = znodes.decode_known_brokers((await zk.get(znodes.KNOWN_BROKERS))[0])
    assert known == {b.id: b.registration.epoch for b in brokers}
    await zk.set(znodes.KNOWN_BROKERS, b'{"epochs":{"1":0,"2":%d,"3":%d}}' % (known[2], known[3]))
    await zk.delete(znodes.CONTROLLER)
    key = TopicPartition("t", 0)
    await until(lambda: all(b.roles[key].leader == 2 for b in brokers), what="a new leader")
    assert all(b.roles[key].leader_epoch == 1 for b in brokers)
    assert all(b.roles[key].isr == [2, 3] for b in brokers)
    now = znodes.decode_known_brokers((await zk.get(znodes.KNOWN_BROKERS))[0])
    assert now == known


async def test_a_new_controller_leaves_brokers_alone_that_stayed(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: (1, 2, 3)}))
    before = active(brokers).host.epoch
    await brokers[1].coordinator.delete(znodes.CONTROLLER)
    await until(lambda: all(b.image.controller_epoch > before for b in brokers))
    await active(brokers).host.propagated(5000)
    role = brokers[0].roles[TopicPartition("t", 0)]
    assert (role.leader, role.leader_epoch, role.isr) == (1, 0, [1, 2, 3])


async def written_by_its_leader(broker, partition, isr):
    """As a leader does that the controller does not answer; the controller has not heard of it."""
    path = znodes.state_path(partition.topic, partition.partition)
    data, stat = await broker.coordinator.get(path)
    value = json.loads(data) | {"isr": isr}
    await broker.coordinator.set(path, json.dumps(value).encode(), stat.version)


async def test_a_late_grant_meets_what_the_leader_has_written_itself(cluster):
    """Neither is the term begun anew, nor the ISR written over."""
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2, 3], 1: [1, 2, 3]}))
    host, tp, other = active(brokers).host, TopicPartition("t", 0), TopicPartition("t", 1)
    context = host.context
    await written_by_its_leader(brokers[0], tp, [1, 2])
    proposals = [IsrProposal(each, 0, 0, {1: -1, 3: -1}) for each in (tp, other)]
    epoch = context.brokers[1].epoch
    answers = await host.submit(lambda c: c.isr_changes.alter_partitions(1, epoch, proposals))
    assert answers[tp] is ErrorCode.INVALID_UPDATE_VERSION
    assert answers[other].isr == (1, 3)
    assert host.context is context, "the same term"
    assert context.state(tp).isr == (1, 2)
    await until(lambda: all(b.image.topics["t"].partitions[0].isr == (1, 2) for b in brokers))
    same = await alter_isr(host, 1, tp, [1, 2], partition_epoch=0)
    assert same.partition_epoch == 1


async def test_an_election_meets_what_the_leader_has_written_itself(cluster):
    """Whoever the leader has put out is not elected, however little the controller has heard."""
    brokers = await cluster(1, 2, 3)
    controller = active(brokers)
    leader, out = (b for b in brokers if b is not controller)
    assigned = {0: [leader.id, out.id, controller.id]}
    await create_settled(brokers, TopicRequest("t", assignments=assigned))
    tp = TopicPartition("t", 0)
    await written_by_its_leader(leader, tp, [leader.id, controller.id])
    await leader.die()
    await controller.coordinator.delete(znodes.broker_path(leader.id))
    await until(lambda: out.image.topics["t"].partitions[0].leader == controller.id)
    assert active([out, controller]).host.context.state(tp).isr == (controller.id,)
