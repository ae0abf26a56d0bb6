"""Whatever members, topics and the log do, the consumer protocol keeps its promises.

Members speak the new protocol or the classic one, eagerly or cooperatively, so the group changes its
kind back and forth on the way.

Promises: no partition is read by two members at once; what a member may read is what the coordinator
holds for it; a request is answered at most once; another coordinator reads the same from the log; and
once things are quiet, every partition that is subscribed to has a reader and the group is stable.
"""

import uuid

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dataplane.groups.consumer.id_partition import IdPartition
from dataplane.groups.outcome import Outcome, Write
from dataplane.model.errors import ErrorCode as E
from tests.dataplane.groups.consumer.classic_clients import (
    COOPERATIVE,
    EAGER,
    JOIN,
    STAY,
    ClassicClient,
)
from tests.dataplane.groups.consumer.members import Client, World
from tests.dataplane.groups.driver import GROUP

TOPICS = ("t", "u", "v")
CLIENTS_MAX = 5
SESSION_MS = 45_000

subscriptions = st.one_of(
    st.frozensets(st.sampled_from(TOPICS), min_size=1).map(lambda names: {"topics": names}),
    st.sampled_from(["t|u", ".*", "v"]).map(lambda text: {"topics": frozenset(), "regex": text}),
)
assignors = st.sampled_from([None, None, "range", "uniform"])


def nothing_follows(_error: E) -> Outcome:
    return Outcome()


class ConsumerGroupLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World(consumer_session_timeout_ms=SESSION_MS)
        self.clients = []
        self.made = 0

    @initialize(
        counts=st.lists(st.integers(1, 4), min_size=1, max_size=3),
        classic=st.sampled_from([EAGER, COOPERATIVE]),
    )
    def topics(self, counts, classic):
        self.classic_name = classic
        for name, count in zip(TOPICS, counts, strict=False):
            self.world.topics.put(name, count)

    def read(self) -> None:
        for client in self.clients:
            client.read()
        self.clients = [c for c in self.clients if not getattr(c, "is_dead", False)]

    @property
    def members(self):
        group = self.world.consumers
        return {} if group is None else group.members

    @property
    def members_of_either_kind(self):
        return self.members or (self.world.group.members if self.world.group else {})

    @precondition(lambda self: len(self.clients) < CLIENTS_MAX)
    @rule(subscribed=subscriptions, assignor=assignors, static=st.sampled_from([None, None, "i"]))
    def join(self, subscribed, assignor, static):
        self.made += 1
        name = f"m{self.made}"
        client = Client(
            self.world, name, instance=static, assignor=assignor, client_id=name, **subscribed
        )
        self.clients.append(client)
        client.send()

    @precondition(lambda self: len(self.clients) < CLIENTS_MAX)
    @rule(
        names=st.frozensets(st.sampled_from(TOPICS), min_size=1),
        version=st.integers(0, 3),
        static=st.sampled_from([None, None, "i"]),
    )
    def join_classic(self, names, version, static):
        version = max(version, self.classic_name == COOPERATIVE)
        # A classic group does not notice that a static member comes back with another subscription.
        names = TOPICS if static else names
        client = ClassicClient(
            self.world, topics=names, instance=static, name=self.classic_name, version=version
        )
        self.clients.append(client)
        client.send()
        self.read()

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def beat(self, data):
        data.draw(st.sampled_from(self.clients)).send()
        self.read()

    @precondition(lambda self: self.clients)
    @rule(data=st.data(), subscribed=subscriptions)
    def subscribe_to_something_else(self, data, subscribed):
        client = data.draw(st.sampled_from(self.clients))
        if client.waiting is not None:
            return  # it says so with a heartbeat, and sends none before it has its answer
        if isinstance(client, ClassicClient):
            if subscribed["topics"] and client.phase == STAY and client.instance is None:
                client.joining = {"topics": subscribed["topics"]}
                client.phase = JOIN
            return
        client.joining = client.joining | {"regex": ""} | subscribed
        if client.epoch > 0:
            fields = client.joining | {"instance_id": client.instance, "owned": client.owned}
            client.waiting = self.world.beat(client.member_id, client.epoch, **fields)
            client.read()

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def an_answer_is_lost(self, data):
        client = data.draw(st.sampled_from(self.clients))
        client.send()
        client.waiting = None
        self.read()

    @precondition(lambda self: self.clients)
    @rule(data=st.data(), for_a_while=st.booleans())
    def leave(self, data, for_a_while):
        client = data.draw(st.sampled_from(self.clients))
        self.clients.remove(client)
        if isinstance(client, ClassicClient):
            client.leave()
            return
        epoch = -2 if for_a_while and client.instance is not None else -1
        self.world.beat(client.member_id, epoch, instance_id=client.instance)

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def crash(self, data):
        self.clients.remove(data.draw(st.sampled_from(self.clients)))

    @rule(name=st.sampled_from(TOPICS), more=st.integers(1, 2))
    def topic_grows(self, name, more):
        known = self.world.topics.get(name)
        self.world.topics.put(name, (known.partition_count if known else 0) + more)

    @rule(name=st.sampled_from(TOPICS))
    def topic_goes(self, name):
        if self.world.topics.get(name) is not None:
            self.world.topics.drop(name)

    @rule(ms=st.sampled_from([1000, 20_000, 30_000, 50_000]))
    def time_passes(self, ms):
        self.world.advance(ms)
        self.read()

    @rule()
    def writes_stall(self):
        self.world.hold_writes = True

    @rule()
    def writes_commit(self):
        self.world.hold_writes = False
        self.world.commit_writes()
        self.read()

    @precondition(lambda self: self.world.pending)
    @rule(data=st.data())
    def the_last_writes_are_refused(self, data):
        """What is in the log already is not: neither what is waited for, nor what was given up."""
        pending = self.world.pending
        settled = [write.on_done is nothing_follows for write in pending]
        first = data.draw(st.integers(0, len(pending)))
        first = max(first, len(pending) - settled[::-1].index(True) if any(settled) else 0)
        refused, self.world.pending = pending[first:], pending[:first]
        for write in refused:
            self.world.take(write.on_done(E.NOT_ENOUGH_REPLICAS))
        self.read()

    @rule()
    def writes_take_too_long(self):
        """Their fate is unknown: they stay in the log, before all later ones."""
        late, self.world.pending = self.world.pending, []
        for write in late:
            self.world.take(write.on_done(E.REQUEST_TIMED_OUT))
        kept = [Write(write.records, nothing_follows) for write in late]
        self.world.pending = kept + self.world.pending
        self.read()

    @precondition(lambda self: not self.world.pending)
    @rule()
    def another_coordinator_takes_over(self):
        self.world.take(self.world.shard.unload())
        self.world.shard = self.world.reloaded()

    @rule()
    def things_are_quiet(self):
        """Everybody goes on as they should, longer than a session."""
        self.writes_commit()
        for _ in range(60):  # sessions, and rebalances of classic groups that wait for who is gone
            self.world.advance(SESSION_MS // 9)
            for client in self.clients:
                if client.waiting is None or not isinstance(client, ClassicClient):
                    client.waiting = None
                    client.send()
            self.read()
        infos = self.world.topics.infos
        wanted = set()
        for client in self.clients:
            names = set(client.joining["topics"])
            regex = client.joining.get("regex")
            if regex:
                names |= {"t|u": {"t", "u"}, ".*": set(infos), "v": {"v"}}[regex]
            wanted |= {
                IdPartition(infos[name].topic_id.bytes, index)
                for name in names & infos.keys()
                for index in range(infos[name].partition_count)
            }
        holders = {client.instance for client in self.clients if client.instance is not None}
        joined = [client for client in self.clients if client.epoch > 0]
        # Of several with one instance id one is in, and the others keep asking.
        assert len(joined) == len([c for c in self.clients if c.instance is None]) + len(holders)
        # In a classic group a static leader that comes back does not learn that it leads.
        is_blind = self.world.group is not None and holders
        if len(joined) == len(self.clients) and not is_blind:
            owned = [part for client in joined for part in client.owned]
            assert sorted(owned) == sorted(wanted)
        if joined:
            is_classic = all(isinstance(client, ClassicClient) for client in joined)
            assert (self.world.group is not None) == is_classic
            assert is_classic == (self.world.consumers is None)
            assert (self.world.state if is_classic else self.world.consumer_state) == "Stable"

    @invariant()
    def nobody_is_answered_twice(self):
        assert not self.world.answered_twice

    @invariant()
    def no_partition_has_two_readers(self):
        members = self.members_of_either_kind
        readers = [c for c in self.clients if c.member_id in members and c.epoch > 0]
        owned = [part for client in readers for part in client.owned]
        assert len(owned) == len(set(owned))

    @invariant()
    def the_coordinator_holds_what_members_read(self):
        for client in self.clients:
            member = self.members.get(client.member_id)
            if member is not None and client.epoch > 0:
                # Classic members know topics by name: one that is gone is not taken over.
                topics = self.world.topics
                is_there = {p for p in client.owned if topics.name_of(uuid.UUID(bytes=p.topic))}
                owned = is_there if isinstance(client, ClassicClient) else client.owned
                assert owned <= member.assigned | member.revoking

    @invariant()
    def owners_are_those_that_hold(self):
        group = self.world.consumers
        if group is None:
            return
        held = [
            (part, member.member_id)
            for member in group.members.values()
            for part in member.assigned | member.revoking
        ]
        assert len(held) == len({part for part, _ in held})
        assert dict(held) == group.owners
        assert group.target_epoch <= group.epoch
        assert group.targets.keys() <= group.members.keys()
        assert set(group.static_members.values()) == {
            m.member_id for m in group.members.values() if m.instance_id is not None
        }

    @invariant()
    def every_member_has_a_session(self):
        for member_id in self.members:
            key = ("consumer-session", GROUP, member_id)
            assert key in self.world.shard.core.deadlines

    @invariant()
    def the_log_says_the_same(self):
        if self.world.pending or self.world.consumers is None:
            return
        copy = self.world.reloaded().core.consumer_groups.find(GROUP)
        assert copy is not None
        assert copy.equals(self.world.consumers)


ConsumerGroupLife.TestCase.settings = settings(
    max_examples=80, stateful_step_count=40, deadline=None
)
TestConsumerGroupLife = ConsumerGroupLife.TestCase
