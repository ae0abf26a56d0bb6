"""Consumer-protocol members as clients see themselves, on the driver of one shard."""

from __future__ import annotations

from dataplane.groups.consumer.group import JOINING
from dataplane.groups.consumer.id_partition import IdPartition
from dataplane.groups.consumer.requests import ConsumerHeartbeat
from dataplane.model.errors import ErrorCode
from tests.dataplane.groups.driver import GROUP, Driver

OUT = (
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.GROUP_ID_NOT_FOUND,  # a classic group by now; joining makes it a consumer group again
    ErrorCode.FENCED_INSTANCE_ID,  # fatal to a client; another one with its instance id came
)
"""Whoever is answered so is no member any more."""


def anything(_topic: str) -> bool:
    return True


class World(Driver):
    def beat(self, member_id: str, epoch: int, **fields) -> int:
        """Send one heartbeat; its ticket."""
        ticket = self.ticket()
        given = {
            "group_id": GROUP,
            "client_id": "client",
            "client_host": "/127.0.0.1",
            "may_describe": anything,
        } | fields
        request = ConsumerHeartbeat(member_id=member_id, member_epoch=epoch, **given)
        self.take(self.shard.consumers.heartbeat(request, ticket))
        return ticket

    def ask(self, member_id: str, epoch: int, **fields):
        return self.answers[self.beat(member_id, epoch, **fields)]

    def error(self, member_id: str, epoch: int, **fields) -> ErrorCode:
        return self.ask(member_id, epoch, **fields).error

    @property
    def consumers(self):
        return self.shard.core.consumer_groups.find(GROUP)

    @property
    def consumer_state(self) -> str:
        return self.consumers.state.value

    def parts(self, topic: str, *indexes: int) -> frozenset[IdPartition]:
        topic_id = self.topics.infos[topic].topic_id.bytes
        return frozenset(IdPartition(topic_id, index) for index in indexes)


class Client:
    """One member that does what it is asked to; `owned` is what it reads."""

    def __init__(self, world: World, member_id: str, *, instance=None, **joining) -> None:
        self.world = world
        self.member_id = member_id
        self.instance = instance
        self.joining = {"topics": frozenset({"t"}), "rebalance_timeout_ms": 30_000} | joining
        self.epoch = JOINING
        self.owned = frozenset()
        self.waiting: int | None = None
        # Whether the coordinator knows what was said last: if not, everything is said again.
        self.is_unsure = False

    def send(self) -> None:
        """One heartbeat, unless one is waiting for its answer."""
        if self.waiting is not None:
            return
        fields = {"owned": self.owned, "instance_id": self.instance}
        if self.epoch == JOINING or self.is_unsure:
            fields |= self.joining
        self.is_unsure = True
        self.waiting = self.world.beat(self.member_id, self.epoch, **fields)
        self.read()

    def read(self) -> None:
        """Take in the answer, if it has come."""
        answer = self.world.answers.get(self.waiting)
        if answer is None:
            return
        self.waiting = None
        self.is_unsure = answer.error is not ErrorCode.NONE
        if answer.error is ErrorCode.NONE:
            self.epoch = answer.member_epoch
            if answer.assignment is not None:
                self.owned = answer.assignment
        elif answer.error in OUT:
            self.lose()

    def lose(self) -> None:
        self.epoch = JOINING
        self.owned = frozenset()

    def leave(self, epoch: int = -1) -> ErrorCode:
        ticket = self.world.beat(self.member_id, epoch, instance_id=self.instance)
        self.lose()
        return self.world.answers[ticket].error


def settle(*clients: Client, rounds: int = 6) -> None:
    for _ in range(rounds):
        for client in clients:
            client.send()
