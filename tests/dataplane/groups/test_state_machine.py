"""Any sequence of joins, syncs, silences and failures keeps the coordinator's promises.

Promises: one generation at a time, and it only grows; only members of the generation are given an
assignment, each exactly what the leader gave it; every request is answered at most once; what
another coordinator reads from the log is what this one serves.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dataplane.groups.requests import Protocol
from dataplane.model.errors import ErrorCode as E
from tests.dataplane.groups.driver import GROUP, Driver

instances = st.sampled_from([None, None, "a", "b"])
protocols = st.sampled_from(
    [(Protocol("range", b"1"),), (Protocol("range", b"2"), Protocol("sticky", b""))]
)


class GroupLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.driver = Driver(initial_rebalance_delay_ms=1000, max_size=4)
        self.joins = {}  # ticket → instance id
        self.syncs = {}  # ticket → (member id, generation)
        self.ids = []  # (member id, instance id, generation) as clients remember them
        self.given = {}  # generation → assignments by its leader
        self.generation = 0
        self.offsets = {}
        self.commits = {}

    def collect(self) -> None:
        """Clients read their answers."""
        for ticket, instance in list(self.joins.items()):
            if ticket in self.driver.answers:
                del self.joins[ticket]
                result = self.driver.answers[ticket]
                if result.error in (E.NONE, E.MEMBER_ID_REQUIRED):
                    self.ids.append((result.member_id, instance, result.generation))
        for ticket, (member_id, generation) in list(self.syncs.items()):
            if ticket in self.driver.answers:
                del self.syncs[ticket]
                result = self.driver.answers[ticket]
                if result.error is E.NONE:
                    # Assignments survive a static member's change of id.
                    expected = self.given[generation].values()
                    assert result.assignment == b"" or result.assignment in expected
                    own = self.given[generation].get(member_id)
                    assert own is None or result.assignment == own
        for ticket, (partition, offset) in list(self.commits.items()):
            if ticket in self.driver.answers:
                del self.commits[ticket]
                if self.driver.committed(ticket) is E.NONE:
                    self.offsets[partition] = offset

    @rule(instance=instances, chosen=protocols, known=st.booleans())
    def join_as_new(self, instance, chosen, known):
        ticket = self.driver.join(
            instance=instance,
            protocols=chosen,
            known_id=known and instance is None,
            rebalance_ms=20_000,
        )
        self.joins[ticket] = instance
        self.collect()

    @precondition(lambda self: self.ids)
    @rule(data=st.data(), chosen=protocols)
    def join_again(self, data, chosen):
        member_id, instance, _ = data.draw(st.sampled_from(self.ids[-8:]))
        ticket = self.driver.join(
            member_id, instance=instance, protocols=chosen, rebalance_ms=20_000
        )
        self.joins[ticket] = instance
        self.collect()

    @precondition(lambda self: self.ids)
    @rule(data=st.data())
    def sync(self, data):
        member_id, instance, generation = data.draw(st.sampled_from(self.ids[-8:]))
        assignments = None
        group = self.driver.group
        if group is not None and group.leader == member_id and group.generation == generation:
            assignments = {m: f"{generation}/{m}".encode() for m in group.members}
            if group.state.value == "CompletingRebalance":
                self.given[generation] = assignments
        ticket = self.driver.sync(member_id, generation, assignments, instance=instance)
        self.syncs[ticket] = (member_id, generation)
        self.collect()

    @precondition(lambda self: self.ids)
    @rule(data=st.data())
    def heartbeat(self, data):
        member_id, instance, generation = data.draw(st.sampled_from(self.ids[-8:]))
        self.driver.heartbeat(member_id, generation, instance)

    @precondition(lambda self: self.ids)
    @rule(data=st.data())
    def leave(self, data):
        member_id, instance, _ = data.draw(st.sampled_from(self.ids[-8:]))
        self.driver.leave(member_id, instance)
        self.collect()

    @rule(
        offset=st.integers(0, 1000),
        partition=st.integers(0, 1),
        data=st.data(),
        simple=st.booleans(),
    )
    def commit(self, offset, partition, data, simple):
        if simple or not self.ids:
            ticket = self.driver.commit(offset, partition=partition)
        else:
            member_id, instance, generation = data.draw(st.sampled_from(self.ids[-8:]))
            ticket = self.driver.commit(
                offset,
                partition=partition,
                member_id=member_id,
                generation=generation,
                instance=instance,
            )
        self.commits[ticket] = (partition, offset)
        self.collect()

    @rule(ms=st.sampled_from([1, 500, 1000, 5000, 10_000, 20_000, 70_000]))
    def time_passes(self, ms):
        self.driver.advance(ms)
        self.collect()

    @rule(error=st.sampled_from([E.NOT_ENOUGH_REPLICAS, E.REQUEST_TIMED_OUT]))
    def writes_fail(self, error):
        self.driver.hold_writes = True
        self.driver.fail_writes(error)
        self.collect()

    @rule()
    def writes_stall(self):
        self.driver.hold_writes = True

    @rule()
    def writes_commit(self):
        self.driver.hold_writes = False
        self.driver.commit_writes()
        self.collect()

    @invariant()
    def nobody_is_answered_twice(self):
        assert not self.driver.answered_twice

    @invariant()
    def generations_only_grow(self):
        group = self.driver.group
        if group is None:
            self.generation = 0
            return
        assert group.generation >= self.generation
        self.generation = group.generation

    @invariant()
    def the_group_is_consistent(self):
        group = self.driver.group
        if group is None:
            return
        # As in Kafka, the limit counts who has joined: late members may be over it until dropped.
        assert group.awaiting_join_count <= 4
        joined = [m for m in group.members.values() if m.join_ticket is not None]
        assert group.awaiting_join_count == len(joined)
        supported = [m.protocol_names for m in group.members.values()]
        common = frozenset.intersection(*supported) if supported else frozenset()
        assert group.candidate_protocols() == common
        assert set(group.static_members.values()) == {
            m.member_id for m in group.members.values() if m.is_static
        }
        assert all(member_id == m.member_id for member_id, m in group.members.items())
        assert group.pending_sync <= group.members.keys()
        assert not group.pending_members & group.members.keys()
        assert (group.leader is None) == (not group.members)
        if group.leader is not None:
            assert group.leader in group.members
        if group.state.value in ("Stable", "CompletingRebalance"):
            assert group.members
            assert group.protocol_name in group.candidate_protocols()
        if group.state.value == "Empty":
            assert not group.members

    @invariant()
    def parked_requests_have_an_owner(self):
        group = self.driver.group
        owned = set()
        if group is not None:
            for member in group.members.values():
                owned |= {member.join_ticket, member.sync_ticket}
        assert set(self.joins) <= owned
        assert set(self.syncs) <= owned

    @invariant()
    def every_waiting_state_has_a_deadline(self):
        group = self.driver.group
        if group is not None and group.state.value == "PreparingRebalance":
            assert ("join", GROUP) in self.driver.shard.core.deadlines
        if group is not None and group.pending_sync and group.state.value != "PreparingRebalance":
            assert ("sync", GROUP) in self.driver.shard.core.deadlines

    @invariant()
    def every_silent_member_has_a_session(self):
        group = self.driver.group
        if group is None:
            return
        for member in group.members.values():
            if member.join_ticket is None and member.sync_ticket is None:
                assert ("session", GROUP, member.member_id) in self.driver.shard.core.deadlines

    @invariant()
    def acknowledged_offsets_are_served(self):
        for partition, offset in self.offsets.items():
            if not any(waiting[0] == partition for waiting in self.commits.values()):
                assert self.driver.fetch(partition=partition) == offset

    @invariant()
    def the_log_says_the_same(self):
        mine, other = self.driver.shard.core.durable, self.driver.reloaded()
        assert other.core.durable.offsets == mine.offsets
        assert other.core.durable.groups == mine.groups
        group = self.driver.group
        if group is None or self.driver.pending or group.state.value != "Stable":
            return
        copy = other.core.find(GROUP)
        assert copy is not None
        assert (copy.generation, copy.protocol_name, copy.leader) == (
            group.generation,
            group.protocol_name,
            group.leader,
        )
        assert copy.static_members == group.static_members
        assert {m: x.assignment for m, x in copy.members.items()} == {
            m: x.assignment for m, x in group.members.items()
        }


GroupLife.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestGroupLife = GroupLife.TestCase
