"""Reads sections of a cluster through its gateway, each in a handful of bulk questions.

A section is `Found`, with the reason why a part of it may be missing, or `Failed`: then nothing
of it is known. One reader is one pass: what two sections need is asked once, and a broker that
is away costs one deadline.
"""

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from django.utils import timezone

from controlplane.common.words import counted
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import NO_AUTHORIZER, ClusterReader, Gap
from controlplane.gateway.types import (
    TP,
    ClusterDescription,
    CommittedOffset,
    ConfigEntry,
    GroupDescription,
    LogDirSpace,
    TopicDescription,
)
from controlplane.observed import rows
from controlplane.observed.rows import Content, Extents, failed_dirs, fullest_disks
from controlplane.observed.sections import (
    ACLS,
    BROKERS,
    GROUPS,
    NOT_ASKED,
    QUOTAS,
    REASSIGNMENTS,
    TOPICS,
    USERS,
)

T = TypeVar("T")
DEAD = "Dead"
CONFIGS_A_QUESTION = 1_000
GROUPS_A_QUESTION = 500
REASON_MAX = 300
KEPT_MAX = 5_000
"""Quotas, and partitions that are moved, that are kept of a cluster: the first by name."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was read.

    Attributes:
        missing: why more groups may be there than were read; empty when all were.
        unknown: why some values in it are null.
    """

    contents: Mapping[str, Content]
    missing: str = ""
    unknown: str = ""

    @property
    def reason(self) -> str:
        gap = f"{NOT_ASKED} ({self.missing})" if self.missing else ""
        return said(gap, self.unknown)


@dataclass(frozen=True, slots=True)
class Failed:
    code: str
    reason: str
    retriable: bool

    @classmethod
    def of(cls, error: GatewayError) -> "Failed":
        return cls(error.code, (error.detail or error.code)[:REASON_MAX], error.retriable)


Answer = Found | Failed


@dataclass(frozen=True, slots=True)
class Figures:
    """`summary`: topics, partitions, under_replicated, offline, size_bytes over all replicas."""

    summary: dict[str, int | None]
    holding: frozenset[int]


def said(*reasons: str) -> str:
    return "; ".join(dict.fromkeys(reason for reason in reasons if reason))[:REASON_MAX]


def in_batches(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for first in range(0, len(names), size):
        yield names[first : first + size]


@dataclass
class SectionReader:
    """Reads the sections of one cluster, once each.

    Attributes:
        read_at: when reading began: what is found is at least as new.
        pause: called between questions; raises when the result will not count any more.
        defaults: what topics have that set nothing, as last read.
        kept_settings: what topics set themselves, as last read; asked of those that nobody gave.
    """

    gateway: ClusterGateway
    pause: Callable[[], None] = lambda: None
    defaults: Mapping[str, rows.Row] = field(default_factory=dict)
    kept_settings: Callable[[Sequence[str]], Mapping[str, list[rows.Row]]] = lambda _names: {}
    read_at: datetime = field(default_factory=timezone.now)

    def __post_init__(self) -> None:
        self._reader = ClusterReader(self.gateway)
        self._asked: dict[str, Any] = {}
        self._silent_s = 0.0

    @property
    def silent_s(self) -> float:
        """How long answers were waited for that did not come."""
        return self._silent_s + self._reader.silent_s

    def _once(self, name: str, question: Callable[[], T]) -> T:
        """The answer of the first time, a refusal too: who is away is not asked again."""
        if name not in self._asked:
            self.pause()
            began_s = time.monotonic()
            try:
                self._asked[name] = question()
            except GatewayError as error:
                self._silent_s += time.monotonic() - began_s
                self._asked[name] = error
        answer: T | GatewayError = self._asked[name]
        if isinstance(answer, GatewayError):
            raise answer
        return answer

    def answers(self, wanted: Collection[str]) -> dict[str, Answer]:
        """The wanted sections. Groups are read before log ends, so that no lag is negative."""
        if GROUPS in wanted:
            with contextlib.suppress(GatewayError):  # its section meets the refusal again
                _ = self._groups
        questions: dict[str, Callable[[], Found]] = {
            TOPICS: self._read_topics,
            BROKERS: self._read_brokers,
            GROUPS: self._read_groups,
            USERS: lambda: self._whole(rows.user_contents(self.gateway.list_users())),
            ACLS: lambda: self._whole(rows.acl_contents(self.gateway.list_acls())),
            QUOTAS: lambda: self._first(rows.quota_contents(self.gateway.list_quotas())),
            REASSIGNMENTS: lambda: self._first(
                rows.reassignment_contents(self.gateway.list_reassignments())
            ),
        }
        found = {}
        for name, question in questions.items():
            if name in wanted:
                self.pause()
                found[name] = _asked(question)
        return found

    @property
    def description(self) -> ClusterDescription:
        return self._once("description", self.gateway.describe_cluster)

    @property
    def topics(self) -> list[TopicDescription]:
        return self._once("topics", self.gateway.list_topics)

    @property
    def _bounds(self) -> tuple[dict[TP, tuple[int, int]], str]:
        return self._once("bounds", self._ask_bounds)

    def _ask_bounds(self) -> tuple[dict[TP, tuple[int, int]], str]:
        reading = self._reader.log_bounds(self.topics)
        return reading.known, _gaps(reading.gaps)

    @property
    def _replicas(self) -> tuple[dict[TP, dict[int, int]], dict[int, int], str]:
        return self._once("replicas", self._ask_replicas)

    def _ask_replicas(self) -> tuple[dict[TP, dict[int, int]], dict[int, int], str]:
        """Bytes by partition and broker, and by broker that said what it holds."""
        live = sorted(node.id for node in self.description.brokers)
        reading = self._reader.replicas(live)
        silent = {broker for gap in reading.gaps for broker in gap.brokers}
        held = dict.fromkeys((broker for broker in live if broker not in silent), 0)
        sizes: dict[TP, dict[int, int]] = {}
        for replica in reading.known:
            held[replica.broker] += replica.size_bytes
            if not replica.is_future:
                sizes.setdefault(replica.tp, {})[replica.broker] = replica.size_bytes
        return sizes, held, _gaps(reading.gaps)

    def figures(self) -> "Figures | None":
        """None while the topics cannot be read; a size is null while a holder does not say."""
        try:
            partitions = [part for topic in self.topics for part in topic.partitions]
            _, held, _ = self._replicas
        except GatewayError:
            return None
        holding = frozenset(broker for part in partitions for broker in part.replicas)
        return Figures(
            {
                "topics": len(self.topics),
                "partitions": len(partitions),
                "under_replicated": sum(
                    part.leader is not None and len(part.isr) < len(part.replicas)
                    for part in partitions
                ),
                "offline": sum(part.leader is None for part in partitions),
                "size_bytes": sum(held.values()) if holding <= set(held) else None,
            },
            holding,
        )

    def _read_brokers(self) -> Found:
        try:
            topics = self.topics
            _, held, gaps = self._replicas
        except GatewayError as error:
            found = rows.broker_contents(self.description, None, None)
            return Found(found, unknown=Failed.of(error).reason)
        spaces, disks_gap = self._spaces(held)
        contents = rows.broker_contents(
            self.description,
            topics,
            held,
            disks=fullest_disks(spaces),
            failed=failed_dirs(spaces),
            led=self._leader_bytes(topics),
        )
        return Found(contents, unknown=said(gaps, disks_gap))

    def _spaces(self, brokers: Collection[int]) -> tuple[list[LogDirSpace], str]:
        """Of the directories of every live broker; `brokers` have said what replicas hold.

        One of which a directory has failed does not say that, and yet which it is. It is asked by
        itself, so that its silence costs no other's answer.
        """
        spaces: list[LogDirSpace] = []
        try:
            spaces += self._once("disks", lambda: self.gateway.log_dir_space(brokers))
        except GatewayError as error:
            return [], Failed.of(error).reason
        reasons = []
        for node in self.description.brokers:
            if node.id in brokers:
                continue
            answer = self._reader.ask(node.id, partial(self.gateway.log_dir_space, [node.id]))
            if isinstance(answer, Gap):
                reasons.append(answer.reason)
            else:
                spaces += answer
        return spaces, said(*reasons)

    def _read_topics(self) -> Found:
        topics = self.topics
        bounds, bounds_gaps = self._bounds
        _, _, size_gaps = self._replicas
        led = self._leader_bytes(topics)
        settings, unread = self._settings([topic.name for topic in topics])
        contents = self._topic_contents(topics, Extents(bounds=bounds, bytes=led), settings)
        return self._whole(contents, unknown=said(bounds_gaps, size_gaps, unread))

    def _leader_bytes(self, topics: Iterable[TopicDescription]) -> dict[TP, int]:
        sizes, _, _ = self._replicas
        return {
            tp: sizes[tp][part.leader]
            for topic in topics
            for part in topic.partitions
            if part.leader is not None
            and (tp := TP(topic.name, part.partition)) in sizes
            and part.leader in sizes[tp]
        }

    def named(self, name: str, keys: Collection[str]) -> Callable[[], dict[str, Content]]:
        """What of a section has these keys, read without looking at other topics and groups.

        The answer makes it the rows' content, with `defaults` as they are by then.

        Raises:
            GatewayError: the cluster does not say which of them are there.
        """
        if name == TOPICS:
            return self._topics_named(sorted(keys))
        found = {
            GROUPS: lambda: self._groups_named(sorted(keys)),
            USERS: lambda: rows.user_contents(self.gateway.list_users()),
            ACLS: lambda: rows.acl_contents(self.gateway.list_acls()),
        }[name]()
        kept = self._whole({key: each for key, each in found.items() if key in keys}).contents
        return lambda: dict(kept)

    def _topics_named(self, names: Sequence[str]) -> Callable[[], dict[str, Content]]:
        topics = list(self.gateway.describe_topics(names).values())
        extents = Extents(
            bounds=self._reader.log_bounds(topics).known,
            bytes=self._reader.leader_bytes(topics).known,
        )
        read = self._configs([topic.name for topic in topics])

        def contents() -> dict[str, Content]:
            settings, _ = self._with_kept([topic.name for topic in topics], read)
            return dict(self._whole(self._topic_contents(topics, extents, settings)).contents)

        return contents

    def _topic_contents(
        self,
        topics: Iterable[TopicDescription],
        extents: Extents,
        settings: Mapping[str, Mapping[str, rows.Row]],
    ) -> dict[str, Content]:
        return {
            topic.name: rows.topic_content(topic, extents, settings.get(topic.name), self.defaults)
            for topic in topics
        }

    def _settings(self, names: Sequence[str]) -> tuple[dict[str, Mapping[str, rows.Row]], str]:
        """Of all topics; what they have that set nothing is kept as `defaults`."""
        read = self._configs(names)
        self.defaults = rows.topic_defaults(read.values()) or self.defaults
        return self._with_kept(names, read)

    def _with_kept(
        self, names: Sequence[str], read: Mapping[str, list[ConfigEntry]]
    ) -> tuple[dict[str, Mapping[str, rows.Row]], str]:
        """Settings by topic, those that nobody gave as last known, and why some are not of now."""
        found: dict[str, Mapping[str, rows.Row]] = {
            name: {entry.name: rows.config_row(entry) for entry in entries}
            for name, entries in read.items()
        }
        unread = [name for name in names if name not in read]
        if not unread:
            return found, ""
        for name, own in self.kept_settings(unread).items():
            found[name] = {**self.defaults, **{row["name"]: row for row in own}}
        return found, f"the settings of {counted(len(unread), 'topic')} could not be read"

    def _configs(self, names: Sequence[str]) -> dict[str, list[ConfigEntry]]:
        found: dict[str, list[ConfigEntry]] = {}
        for batch in in_batches(sorted(names), CONFIGS_A_QUESTION):
            self.pause()
            began_s = time.monotonic()
            try:
                found |= self.gateway.topic_configs(batch)
            except GatewayError as error:
                self._silent_s += time.monotonic() - began_s
                if error.retriable:
                    break  # the next batch would wait as long for nothing
        return found

    @property
    def _groups(self) -> tuple[dict[str, GroupDescription], dict[str, Any], str]:
        return self._once("groups", self._ask_groups)

    def _ask_groups(self) -> tuple[dict[str, GroupDescription], dict[str, Any], str]:
        """(descriptions, commits by group, why some may be missing), one coordinator at a time."""
        described: dict[str, GroupDescription] = {}
        committed: dict[str, Any] = {}
        reasons = []
        for node in self.description.brokers:
            self.pause()
            answer = self._reader.ask(node.id, partial(self._groups_of, node.id))
            if isinstance(answer, Gap):
                reasons.append(answer.reason)
                continue
            described |= answer[0]
            committed |= answer[1]
        reasons += [gap.reason for gap in self._reader.unled_coordinators()]
        return described, committed, said(*reasons)

    def _groups_of(
        self, broker: int
    ) -> tuple[dict[str, GroupDescription], dict[str, dict[TP, CommittedOffset]]]:
        names = sorted(row.group for row in self.gateway.list_groups([broker]))
        described: dict[str, GroupDescription] = {}
        committed: dict[str, dict[TP, CommittedOffset]] = {}
        for batch in in_batches(names, GROUPS_A_QUESTION):
            self.pause()
            described |= self.gateway.describe_groups(batch)
            committed |= self.gateway.group_offsets(batch)
        return described, committed

    def _read_groups(self) -> Found:
        described, committed, missing = self._groups
        bounds, gaps = self._bounds
        partitions = _partitions(self.topics)
        contents = {
            name: rows.group_content(group, committed.get(name, {}), bounds, partitions)
            for name, group in described.items()
            if group.state != DEAD or committed.get(name)
        }
        return self._whole(contents, missing=missing, unknown=gaps)

    def _groups_named(self, names: Sequence[str]) -> dict[str, Content]:
        """Those of `names` that are there: with members or with commits.

        Raises:
            GatewayError: their coordinators do not answer.
        """
        described = self.gateway.describe_groups(names)
        committed = self.gateway.group_offsets(names)
        used = {tp.topic for found in committed.values() for tp in found} | {
            tp.topic
            for group in described.values()
            for member in group.members
            for tp in member.partitions
        }
        topics = self.gateway.describe_topics(sorted(used))
        bounds = self._reader.log_bounds(topics.values()).known
        partitions = _partitions(topics.values())
        return {
            name: rows.group_content(group, committed.get(name, {}), bounds, partitions)
            for name, group in described.items()
            if group.state != DEAD or committed.get(name)
        }

    @classmethod
    def _first(cls, contents: Mapping[str, Content]) -> Found:
        """As `_whole`, of no more than `KEPT_MAX`."""
        if len(contents) <= KEPT_MAX:
            return cls._whole(contents)
        kept = {key: contents[key] for key in sorted(contents)[:KEPT_MAX]}
        return cls._whole(kept, unknown=f"only {KEPT_MAX} of {len(contents)} are kept")

    @staticmethod
    def _whole(contents: Mapping[str, Content], *, missing: str = "", unknown: str = "") -> Found:
        kept, left_out = rows.keyable(contents)
        if left_out:
            unknown = said(unknown, f"{left_out} have names that cannot be shown")
        return Found(kept, missing=missing, unknown=unknown)


def _asked(question: Callable[[], Found]) -> Answer:
    try:
        return question()
    except GatewayError as error:
        if error.code == NO_AUTHORIZER:
            return Failed(error.code, "the cluster has no authorizer: everybody may do all", False)
        return Failed.of(error)


def _gaps(gaps: Sequence[Gap]) -> str:
    return said(*(gap.reason for gap in gaps))


def _partitions(topics: Iterable[TopicDescription]) -> dict[str, list[int]]:
    return {topic.name: [part.partition for part in topic.partitions] for topic in topics}
