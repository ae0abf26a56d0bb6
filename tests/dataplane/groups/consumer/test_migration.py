"""Groups that change their protocol with members in them (KIP-848), and members of both in one."""

import pytest

from dataplane.groups.consumer.classic_side import ClassicSide
from dataplane.groups.consumer.records import ClassicMember, MemberKey, decode
from dataplane.groups.consumer.topics import named
from dataplane.groups.consumer_protocol import read_assignment
from dataplane.groups.records import GroupMetadataKey, decode_group_value, decode_key
from dataplane.groups.requests import CommitRequest, OffsetToCommit, Protocol
from dataplane.groups.settings import MigrationPolicy
from dataplane.model.errors import ErrorCode as E
from dataplane.model.ids import TopicPartition
from tests.dataplane.groups.consumer.classic_clients import (
    COOPERATIVE,
    STAY,
    SYNC,
    ClassicClient,
    settle,
    subscription,
)
from tests.dataplane.groups.consumer.members import Client, World
from tests.dataplane.groups.driver import GROUP

T = frozenset({"t"})
JOINING = {"topics": T, "rebalance_timeout_ms": 1000, "owned": frozenset()}


@pytest.fixture
def world():
    made = World()
    made.topics.put("t", 4)
    return made


def classic(world, count=2, **options):
    """Members of a stable classic group."""
    made = [ClassicClient(world, **options) for _ in range(count)]
    settle(*made)
    assert world.state == "Stable"
    return made


def shares(*clients):
    owned = [part for client in clients for part in client.owned]
    assert len(owned) == len(set(owned))
    return sorted(len(client.owned) for client in clients)


def commit(world, client, offset=5, *, has_member_epoch=False, epoch=None):
    ticket = world.ticket()
    request = CommitRequest(
        group_id=GROUP,
        member_id=client.member_id,
        group_instance_id=None,
        generation=client.epoch if epoch is None else epoch,
        offsets={TopicPartition("t", 0): OffsetToCommit(offset=offset)},
        has_member_epoch=has_member_epoch,
    )
    world.take(world.shard.offsets.commit(request, ticket))
    return world.committed(ticket)


@pytest.mark.parametrize("name", ["range", COOPERATIVE])
def test_a_rolling_change_of_protocol_and_back_moves_every_partition_safely(world, name):
    old = classic(world, 2, name=name)
    assert commit(world, old[0]) is E.NONE
    new = [Client(world, "one"), Client(world, "two")]
    for leaver, joiner in zip(old, new, strict=True):
        settle(joiner, *old, *new[:1])
        leaver.leave()
        leaver.is_dead = True
        settle(*old, *new)
    assert world.group is None
    assert shares(*new) == [2, 2]
    back = [ClassicClient(world, name=name) for _ in range(2)]
    for leaver, joiner in zip(new, back, strict=True):
        settle(joiner, *[c for c in new if c.epoch], *back[:1])
        leaver.leave()
        settle(*back, *[c for c in new if c.epoch])
    assert world.consumers is None
    assert world.state == "Stable"
    assert shares(*back) == [2, 2]
    assert world.fetch() == 5


def test_an_upgrade_keeps_what_members_hold_and_stores_what_they_speak(world):
    one, two = classic(world, 2)
    generation = one.epoch
    world.beat("new", 0, **JOINING)
    group = world.consumers
    assert group.epoch == generation + 1
    for client in (one, two):
        member = group.members[client.member_id]
        assert (member.epoch, member.assigned) == (generation, client.owned)
        assert member.classic.session_timeout_ms == 45_000
        assert [protocol.name for protocol in member.classic.protocols] == ["range"]
    stored = [decode(record) for record in world.log if decode_key(record.key) is None]
    values = {key.member_id: value for key, value in stored if isinstance(key, MemberKey)}
    assert values[one.member_id].classic_member.supported_protocols[0].name == "range"
    assert values["new"].classic_member is None
    copy = world.reloaded()
    assert copy.core.find(GROUP) is None
    assert copy.core.consumer_groups.find(GROUP).equals(group)
    assert world.heartbeat(one.member_id, generation) is E.REBALANCE_IN_PROGRESS
    assert {g.kind for g in world.shard.list_groups()} == {"consumer"}


def test_a_downgrade_leaves_a_group_record_and_no_others(world):
    one = Client(world, "one")
    two = ClassicClient(world)
    settle(one, two, one, two)
    epoch = world.consumers.epoch
    one.leave()
    assert (world.state, world.group.generation) == ("PreparingRebalance", epoch)
    assert world.heartbeat(two.member_id, two.epoch) is E.REBALANCE_IN_PROGRESS
    last = world.log[-1]
    assert isinstance(decode_key(last.key), GroupMetadataKey)
    value = decode_group_value(last.value)
    assert (value.generation, value.protocol_type, value.protocol) == (epoch, "consumer", "range")
    (member,) = value.members
    assert member.member_id == two.member_id
    held = read_assignment(member.assignment).partitions
    assert held == set(named(two.owned, world.topics))
    copy = world.reloaded()
    assert copy.core.durable.consumer_groups == {}
    # Whoever coordinates next begins the rebalance again: else nobody had what the other left.
    assert copy.core.find(GROUP).state.value == "PreparingRebalance"
    settle(two)
    assert shares(two) == [4]


def test_a_silent_last_member_of_the_new_protocol_ends_it_too(world):
    Client(world, "one").send()
    two = ClassicClient(world)
    for _ in range(12):
        world.advance(5_000)
        two.send()
    assert world.consumers is None
    assert (world.state, shares(two)) == ("Stable", [4])


@pytest.mark.parametrize(
    ("policy", "upgrades", "downgrades"),
    [
        (MigrationPolicy.DISABLED, False, False),
        (MigrationPolicy.UPGRADE, True, False),
        (MigrationPolicy.DOWNGRADE, False, True),
        (MigrationPolicy.BIDIRECTIONAL, True, True),
    ],
)
def test_the_policy_decides(policy, upgrades, downgrades):
    world = World(migration_policy=policy)
    world.topics.put("t", 4)
    classic(world, 1)
    error = world.error("new", 0, **JOINING)
    assert error is (E.NONE if upgrades else E.GROUP_ID_NOT_FOUND)
    world = World(migration_policy=policy)
    world.topics.put("t", 4)
    one, two = Client(world, "one"), ClassicClient(world)
    settle(one, two)
    one.leave()
    assert (world.consumers is None) == downgrades
    settle(two)
    assert shares(two) == [4]


def test_what_cannot_be_upgraded_stays_classic(world):
    world.stable_group(1)  # its metadata is no subscription
    refused = world.ask("new", 0, **JOINING)
    assert refused.error is E.GROUP_ID_NOT_FOUND
    assert "malformed" in refused.message
    assert world.state == "Stable"
    other = World()
    other.stable_group(1, protocol_type="connect")
    assert other.error("new", 0, **JOINING) is E.GROUP_ID_NOT_FOUND
    custom = World()
    custom.topics.put("t", 1)
    member = ClassicClient(custom)
    member.given = lambda: {member.member_id: bytes.fromhex("0000 00000000 00000001 07")}
    settle(member)
    refused = custom.ask("new", 0, **JOINING)
    assert refused.error is E.GROUP_ID_NOT_FOUND
    assert "custom assignor" in refused.message
    full = World(consumer_max_size=1)
    full.topics.put("t", 1)
    classic(full, 2)
    assert full.error("new", 0, **JOINING) is E.GROUP_ID_NOT_FOUND


def test_a_group_too_large_for_a_classic_one_stays_what_it_is():
    world = World(max_size=1)
    world.topics.put("t", 4)
    one, two, three = Client(world, "one"), ClassicClient(world), ClassicClient(world)
    settle(one, two, three)
    one.leave()
    assert world.group is None
    settle(two, three)
    assert shares(two, three) == [2, 2]


def test_joins_that_wait_are_sent_back_when_the_group_is_upgraded(world):
    one, two = classic(world, 2)
    three = ClassicClient(world)
    three.send()
    assert three.waiting is not None  # for the others to join
    waiting = three.waiting
    world.beat("new", 0, **JOINING)
    assert world.answers[waiting].error is E.REBALANCE_IN_PROGRESS
    three.read()
    new = Client(world, "new")
    settle(one, two, three, new)
    assert shares(one, two, three, new) == [1, 1, 1, 1]


def test_members_that_were_cut_short_while_they_rebalanced_give_up_what_they_still_read(world):
    """A cooperative member goes on reading while it waits for a leader that never comes."""
    one, two = classic(world, 2, name=COOPERATIVE)
    ClassicClient(world, name=COOPERATIVE).send()
    for client in (one, two):
        client.stay()
        client.join()
        client.read()
    assert world.state == "CompletingRebalance"
    ClassicClient(world, name=COOPERATIVE).send()  # before the leader has assigned anything
    assert not any(member.assignment for member in world.group.members.values())
    held = one.owned | two.owned
    world.beat("new", 0, **JOINING)
    group = world.consumers
    assert group.members[one.member_id].assigned | group.members[two.member_id].assigned == held
    assert group.members["new"].assigned == frozenset()


def test_classic_members_of_a_consumer_group_are_checked_as_such(world):
    one, two = Client(world, "one"), ClassicClient(world)
    settle(one, two)
    ours, epoch = two.member_id, two.epoch
    assert world.heartbeat(ours, epoch) is E.NONE
    assert world.heartbeat(ours, epoch - 1) is E.ILLEGAL_GENERATION
    assert world.heartbeat("stranger", epoch) is E.UNKNOWN_MEMBER_ID
    assert world.heartbeat("one", one.epoch) is E.UNKNOWN_MEMBER_ID
    assert world.synced(world.sync("one", one.epoch)).error is E.UNKNOWN_MEMBER_ID
    assert world.synced(world.sync(ours, epoch - 1)).error is E.ILLEGAL_GENERATION
    wrong = {"protocol_name": "sticky"}, {"protocol_type": "connect"}
    for names in wrong:
        answer = world.synced(world.sync(ours, epoch, **names))
        assert answer.error is E.INCONSISTENT_GROUP_PROTOCOL
    answer = world.synced(world.sync(ours, epoch, protocol_name="range", protocol_type="consumer"))
    assert read_assignment(answer.assignment).partitions == set(named(two.owned, world.topics))
    assert world.leave("one") is E.UNKNOWN_MEMBER_ID
    assert world.leave("stranger") is E.UNKNOWN_MEMBER_ID
    assert world.consumers.members.keys() == {"one", ours}


def test_protocols_that_members_have_not_in_common_are_refused(world):
    one, two = Client(world, "one"), ClassicClient(world)
    settle(one, two)
    good = subscription(T)
    for protocols, protocol_type in (
        ((Protocol("sticky", good),), "consumer"),
        ((Protocol("range", good),), "connect"),
        ((Protocol("range", b"?"),), "consumer"),
        ((), "consumer"),
    ):
        ticket = world.join(protocols=protocols, protocol_type=protocol_type)
        assert world.joined(ticket).error is E.INCONSISTENT_GROUP_PROTOCOL
    several = (Protocol("sticky", good), Protocol("range", good))
    answer = world.joined(world.join(protocols=several))
    assert (answer.error, answer.protocol_name, answer.leader) == (E.NONE, "sticky", "")


def test_a_full_group_takes_no_more(world):
    world = World(consumer_max_size=2)
    world.topics.put("t", 2)
    settle(Client(world, "one"), ClassicClient(world))
    ticket = world.join(protocols=(Protocol("range", subscription(T)),))
    assert world.joined(ticket).error is E.GROUP_MAX_SIZE_REACHED


def test_offsets_are_committed_with_the_generation(world):
    one, two = Client(world, "one"), ClassicClient(world)
    settle(one, two)
    assert commit(world, two) is E.NONE
    assert commit(world, two, epoch=two.epoch - 1) is E.ILLEGAL_GENERATION
    assert commit(world, one, epoch=one.epoch - 1, has_member_epoch=True) is E.STALE_MEMBER_EPOCH
    assert commit(world, one) is E.UNSUPPORTED_VERSION


def test_a_member_that_is_told_to_join_again_and_does_not_is_removed(world):
    one, two = Client(world, "one"), ClassicClient(world)
    settle(one, two)
    Client(world, "three").send()
    for _ in range(5):
        assert world.heartbeat(two.member_id, two.epoch) is E.REBALANCE_IN_PROGRESS
        world.advance(5_900)
        one.send()
    world.advance(1_000)
    assert world.heartbeat(two.member_id, two.epoch) is E.UNKNOWN_MEMBER_ID


def test_a_member_that_joins_and_never_syncs_is_removed(world):
    settle(Client(world, "one"))
    two = ClassicClient(world)
    two.join()
    two.read()
    two.join()
    two.read()
    assert two.phase == SYNC
    assert two.member_id in world.consumers.members
    world.advance(30_001)
    assert two.member_id not in world.consumers.members


def test_a_classic_members_session_is_its_own(world):
    settle(Client(world, "one"))
    ticket = world.join(
        protocols=(Protocol("range", subscription(T)),), session_ms=10_000, rebalance_ms=60_000
    )
    ours = world.joined(ticket)
    world.sync(ours.member_id, ours.generation)
    world.advance(9_000)
    assert ours.member_id in world.consumers.members
    world.advance(1_001)
    assert ours.member_id not in world.consumers.members


def test_static_members_change_their_protocol_in_place(world):
    one = ClassicClient(world, instance="i")
    two = Client(world, "two")
    settle(one, two, one, two)
    mine = one.owned
    heir = Client(world, "heir", instance="i")
    heir.send()
    assert heir.owned == mine  # it need not leave first
    one.send()
    assert one.is_dead
    settle(heir, two)
    again = ClassicClient(world, instance="i")
    again.send()
    assert (again.phase, again.owned) == (STAY, mine)
    assert world.heartbeat(again.member_id, again.epoch, "i") is E.NONE
    assert world.heartbeat("heir", again.epoch, "i") is E.FENCED_INSTANCE_ID
    assert world.leave("", "i") is E.NONE


def test_the_last_of_the_new_protocol_may_be_replaced_by_a_classic_one(world):
    one, two = Client(world, "one", instance="i"), ClassicClient(world)
    settle(one, two, one, two)
    again = ClassicClient(world, instance="i")
    again.send()
    assert world.consumers is None
    settle(two, again)
    assert (world.state, shares(two, again)) == ("Stable", [2, 2])


def test_a_refused_upgrade_leaves_the_classic_group_and_its_sessions(world):
    one, _two = classic(world, 2)
    world.hold_writes = True
    ticket = world.beat("new", 0, **JOINING)
    world.fail_writes(E.NOT_ENOUGH_REPLICAS)
    world.hold_writes = False
    assert world.answers[ticket].error is E.COORDINATOR_NOT_AVAILABLE
    assert world.state == "Stable"
    assert world.heartbeat(one.member_id, one.epoch) is E.NONE
    world.advance(45_001)
    assert world.state == "Empty"


def test_a_refused_downgrade_leaves_the_consumer_group(world):
    one, two = Client(world, "one"), ClassicClient(world)
    settle(one, two, one, two)
    world.hold_writes = True
    world.beat("one", -1)
    two.send()
    two.send()
    parked = two.waiting
    world.fail_writes(E.NOT_ENOUGH_REPLICAS)
    world.hold_writes = False
    assert world.group is None
    assert world.consumers.members.keys() == {"one", two.member_id}
    if parked is not None:
        assert world.answers[parked].error is not E.NONE
    two.waiting = None
    settle(two, one)
    assert shares(one, two) == [2, 2]


def test_an_empty_consumer_group_whose_end_is_refused_is_alone_again(world):
    one = Client(world, "one")
    settle(one)
    one.leave()
    world.hold_writes = True
    ClassicClient(world).send()
    assert world.group is not None
    world.fail_writes(E.NOT_ENOUGH_REPLICAS)
    assert (world.group, world.consumer_state) == (None, "Empty")


def test_a_static_member_that_waits_is_fenced_by_who_upgrades_the_group_in_its_place(world):
    classic(world, 1)
    static = ClassicClient(world, instance="i")
    static.send()
    assert static.waiting is not None
    Client(world, "heir", instance="i").send()
    static.read()
    assert static.is_dead


def test_a_member_of_both_protocols_in_turn_keeps_its_id(world):
    two = ClassicClient(world)
    settle(two, Client(world, "one"), two)
    new = Client(world, two.member_id)
    settle(new)
    assert world.consumers.members[two.member_id].classic is None
    assert ("consumer-join", GROUP, two.member_id) not in world.shard.core.deadlines


def test_a_member_of_no_protocol_in_a_log_is_of_the_new_one():
    side = ClassicSide(1, (Protocol("range", b"?"),))
    assert ClassicSide.from_value(side.to_value()) == side
    nothing = ClassicMember(session_timeout_ms=1)
    assert ClassicSide.from_value(nothing) is None
    assert side.assignment([]) == bytes.fromhex("0000 00000000 ffffffff")
