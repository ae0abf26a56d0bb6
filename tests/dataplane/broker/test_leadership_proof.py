"""Whether a coordinator leads its partition now, as ZooKeeper says."""

import asyncio
import types

import pytest

from dataplane.broker.coordinator_log import leadership_proof
from dataplane.broker.coordinator_log.leadership_proof import LeadershipProof
from dataplane.cluster import znodes
from dataplane.model.errors import ErrorCode as E
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.ports.fakes.coordinator import FakeZooKeeper

ME, OTHER = 1, 2
PLACE = TopicPartition("__consumer_offsets", 3)
PATH = znodes.state_path(*PLACE)


def led(epoch: int = 5, partition_epoch: int = 0):
    core = types.SimpleNamespace(broker_id=ME, leader_epoch=epoch, partition_epoch=partition_epoch)
    return types.SimpleNamespace(topic_partition=PLACE, core=core)


def state(leader: int = ME, epoch: int = 5) -> bytes:
    named = PartitionState(index=3, leader=leader, leader_epoch=epoch, replicas=(1, 2), isr=(1, 2))
    return znodes.encode_state(named)


@pytest.fixture
def zookeeper() -> FakeZooKeeper:
    return FakeZooKeeper()


@pytest.fixture
async def coordinator(zookeeper):
    made = zookeeper.connect()
    await made.create(PATH, state(), make_parents=True)
    return made


async def test_who_is_named_leads(coordinator):
    assert await LeadershipProof(coordinator).ask(led()) is E.NONE


async def test_a_changed_isr_changes_no_leader(coordinator):
    await coordinator.set(PATH, state())
    assert await LeadershipProof(coordinator).ask(led(partition_epoch=0)) is E.NONE


async def test_who_was_deposed_is_told_whatever_it_believes(coordinator):
    await coordinator.set(PATH, state(OTHER, 6))
    assert await LeadershipProof(coordinator).ask(led()) is E.NOT_COORDINATOR


async def test_who_leads_again_has_to_read_first_what_came_between(coordinator):
    await coordinator.set(PATH, state(ME, 7))
    assert await LeadershipProof(coordinator).ask(led()) is E.COORDINATOR_LOAD_IN_PROGRESS


async def test_a_deleted_topic_has_no_leader(coordinator):
    await coordinator.delete(PATH)
    assert await LeadershipProof(coordinator).ask(led()) is E.NOT_COORDINATOR


async def test_who_resigned_meanwhile_does_not_lead(coordinator):
    partition = led()
    asking = asyncio.create_task(LeadershipProof(coordinator).ask(partition))
    await asyncio.sleep(0)
    partition.core = None
    assert await asking is E.NOT_COORDINATOR


async def test_without_zookeeper_nothing_is_proved(coordinator, monkeypatch):
    monkeypatch.setattr(leadership_proof, "TIMEOUT_S", 0.01)

    async def never(_ops):
        await asyncio.Event().wait()

    monkeypatch.setattr(coordinator, "multi", never)
    assert await LeadershipProof(coordinator).ask(led()) is E.COORDINATOR_LOAD_IN_PROGRESS


async def test_who_comes_while_one_question_is_asked_shares_the_next(coordinator, monkeypatch):
    """An answer counts for those alone who came before it was asked for."""
    gate, asked, multi = asyncio.Event(), [], coordinator.multi

    async def slowly(ops):
        asked.append(ops)
        await gate.wait()
        return await multi(ops)

    monkeypatch.setattr(coordinator, "multi", slowly)
    proof, partition = LeadershipProof(coordinator), led()
    first = asyncio.create_task(proof.ask(partition))
    while not asked:
        await asyncio.sleep(0)
    others = [asyncio.create_task(proof.ask(partition)) for _ in range(50)]
    await asyncio.sleep(0)
    others[0].cancel()
    gate.set()
    assert await first is E.NONE
    assert set(await asyncio.gather(*others[1:])) == {E.NONE}
    assert len(asked) == 2
    assert not proof.under_way
