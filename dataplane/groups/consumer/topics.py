"""The cluster's topics as consumer groups see them, and which of them each member means."""

from __future__ import annotations

import collections
import dataclasses
from typing import TYPE_CHECKING, Final, Protocol

from dataplane.groups.consumer.id_partition import IdPartition, by_topic
from dataplane.groups.consumer.regex_syntax import InvalidRegexError
from dataplane.groups.consumer.topic_regex import TopicRegex
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable, Iterable

    from dataplane.groups.consumer.group import ConsumerGroup, ConsumerMember, TopicInfo
    from dataplane.groups.consumer.id_partition import Assignment
    from dataplane.ports.clock import Clock

MATCHES_KEPT: Final = 64
"""Regular expressions whose matching topics are remembered until topics change."""


class TopicCatalogue(Protocol):
    """`version` changes whenever a topic comes, goes, or gets more partitions."""

    @property
    def version(self) -> int: ...

    def get(self, name: str) -> TopicInfo | None: ...

    def name_of(self, topic_id: uuid.UUID) -> str | None: ...

    def matchable(self) -> Iterable[str]:
        """Names that a regular expression may match: those of topics that are not internal."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class _Resolved:
    regex: str
    version: int
    at_ms: int
    names: frozenset[str]


class Subscriptions:
    """What members' regular expressions match. Not stored: it follows from topics and rights.

    Each member's is resolved with that member's own rights, whenever it sends a heartbeat after
    topics have changed or `refresh_ms` have passed (rights may have changed). One that has not been
    heard of since the group was loaded is taken to mean the topics that it was assigned.
    """

    def __init__(self, topics: TopicCatalogue, clock: Clock, *, refresh_ms: int) -> None:
        self.topics = topics
        self._clock = clock
        self._refresh_ms = refresh_ms
        self._resolved: dict[tuple[str, str], _Resolved] = {}
        self._matches: collections.OrderedDict[str, frozenset[str]] = collections.OrderedDict()
        self._matches_version = topics.version

    def resolve(
        self, group_id: str, member_id: str, regex: str | None, may_describe: Callable[[str], bool]
    ) -> bool:
        """Find out what the member's expression matches; whether that has changed.

        KafkaError(INVALID_REGULAR_EXPRESSION) when it is none.
        """
        key = (group_id, member_id)
        known = self._resolved.get(key)
        if not regex:
            self._resolved.pop(key, None)
            return known is not None and bool(known.names)
        now_ms = self._clock.monotonic_ms()
        if (
            known is not None
            and (known.regex, known.version) == (regex, self.topics.version)
            and now_ms - known.at_ms < self._refresh_ms
        ):
            return False
        names = frozenset(name for name in self._matching(regex) if may_describe(name))
        self._resolved[key] = _Resolved(regex, self.topics.version, now_ms, names)
        return known is None or known.names != names

    def _matching(self, regex: str) -> frozenset[str]:
        if self._matches_version != self.topics.version:
            self._matches.clear()
            self._matches_version = self.topics.version
        found = self._matches.get(regex)
        if found is None:
            try:
                found = TopicRegex(regex).matching(self.topics.matchable())
            except InvalidRegexError as error:
                message = f"SubscribedTopicRegex `{regex[:200]}` is not valid: {error}."
                raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, message) from error
            self._matches[regex] = found
            if len(self._matches) > MATCHES_KEPT:
                self._matches.popitem(last=False)
        else:
            self._matches.move_to_end(regex)
        return found

    def rename(self, group_id: str, old_member_id: str, new_member_id: str) -> None:
        known = self._resolved.pop((group_id, old_member_id), None)
        if known is not None:
            self._resolved[group_id, new_member_id] = known

    def forget(self, group_id: str, member_id: str) -> None:
        self._resolved.pop((group_id, member_id), None)

    def clear(self) -> None:
        self._resolved.clear()

    def names_of(self, group: ConsumerGroup, member: ConsumerMember) -> frozenset[str]:
        """Names of topics that the member subscribes to, whether or not they exist."""
        if not member.regex:
            return member.topics
        known = self._resolved.get((group.group_id, member.member_id))
        if known is not None:
            return member.topics | known.names
        assigned = by_topic(group.target_of(member.member_id))
        named = {self.topics.name_of(topic_id) for topic_id in assigned}
        return member.topics | {name for name in named if name is not None}

    def names_of_all(self, group: ConsumerGroup) -> frozenset[str]:
        return frozenset().union(
            *(self.names_of(group, member) for member in group.members.values())
        )


def embedded(partitions: Iterable[TopicPartition], topics: TopicCatalogue) -> Assignment:
    """By topic id; what is not there any more is left out."""
    return frozenset(
        IdPartition(info.topic_id.bytes, part.partition)
        for part in partitions
        if (info := topics.get(part.topic)) is not None and part.partition < info.partition_count
    )


def named(partitions: Assignment, topics: TopicCatalogue) -> list[TopicPartition]:
    """The opposite of `embedded`."""
    return [
        TopicPartition(name, index)
        for topic_id, indexes in by_topic(partitions).items()
        if (name := topics.name_of(topic_id)) is not None
        for index in indexes
    ]
