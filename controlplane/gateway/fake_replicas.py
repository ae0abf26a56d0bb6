"""Replicas of the fake cluster that move, and leaders that are elected: a part of `FakeGateway`."""

from collections.abc import Collection, Mapping, Sequence

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.fake_state import FakeTopic
from controlplane.gateway.types import TP, BrokerNode, OngoingReassignment


class FakeReplicasMixin:
    """Needs the fake that it is mixed into: its topics, its brokers, its account of calls."""

    brokers: dict[int, BrokerNode]
    topics: dict[str, FakeTopic]
    polls_to_move: int

    def called(self, method: str) -> None:
        """Notes the call; raises what was asked for. `FakeGateway` has it."""
        raise NotImplementedError

    def _topic(self, name: str) -> FakeTopic:
        """Raises when there is none. `FakeGateway` has it."""
        raise NotImplementedError

    def reassign(self, moves: Mapping[TP, Sequence[int] | None]) -> None:
        self.called("reassign")
        for tp, replicas in moves.items():
            parts = self._topic(tp.topic).partitions
            if tp.partition >= len(parts):
                raise GatewayError("UNKNOWN_TOPIC_OR_PARTITION", str(tp))
            if not set(replicas or ()) <= set(self.brokers):
                raise GatewayError("INVALID_REPLICA_ASSIGNMENT", str(tp))
            part = parts[tp.partition]
            if replicas is None:
                if part.target is None:
                    raise GatewayError("NO_REASSIGNMENT_IN_PROGRESS", str(tp))
                part.target = None
            else:
                part.target = tuple(replicas)
                part.polls_left = self.polls_to_move

    def list_reassignments(
        self, partitions: Collection[TP] | None = None
    ) -> list[OngoingReassignment]:
        self.called("list_reassignments")
        ongoing = []
        for name, topic in self.topics.items():
            for index, part in enumerate(topic.partitions):
                if part.target is None or (
                    partitions is not None and TP(name, index) not in partitions
                ):
                    continue
                part.polls_left -= 1
                if part.polls_left < 0:
                    part.replicas, part.target = part.target, None
                    continue
                ongoing.append(
                    OngoingReassignment(
                        tp=TP(name, index),
                        replicas=tuple(dict.fromkeys((*part.target, *part.replicas))),
                        adding=tuple(b for b in part.target if b not in part.replicas),
                        removing=tuple(b for b in part.replicas if b not in part.target),
                    )
                )
        return ongoing

    def elect_preferred_leaders(self, partitions: Collection[TP]) -> dict[TP, str]:
        self.called("elect_preferred_leaders")
        refused = {}
        for tp in partitions:
            parts = self.topics[tp.topic].partitions if tp.topic in self.topics else []
            if tp.partition >= len(parts):
                refused[tp] = "UNKNOWN_TOPIC_OR_PARTITION"
                continue
            part = parts[tp.partition]
            if part.replicas[0] not in self.brokers or part.replicas[0] in part.out_of_sync:
                refused[tp] = "PREFERRED_LEADER_NOT_AVAILABLE"
            else:
                part.led_by = None
        return refused
