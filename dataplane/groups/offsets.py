"""Committed offsets: who may commit, what is answered, what expires, what may be deleted."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from dataplane.groups.commit_records import commit_record, commit_tombstone
from dataplane.groups.consumer.offset_checks import check_commit
from dataplane.groups.core import offset_write_error
from dataplane.groups.in_flight import InFlight
from dataplane.groups.outcome import Outcome
from dataplane.groups.records import (
    NO_TIMESTAMP,
    CoordinatorRecord,
    OffsetCommitValue,
    group_tombstone,
)
from dataplane.groups.requests import CommittedOffset
from dataplane.groups.states import GroupState
from dataplane.groups.transactional_offsets import TransactionalOffsets
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from dataplane.groups.consumer.group import ConsumerGroup
    from dataplane.groups.consumer.parts import ConsumerParts
    from dataplane.groups.core import ShardCore
    from dataplane.groups.group import ClassicGroup
    from dataplane.groups.outcome import Ticket
    from dataplane.groups.pending_offsets import Place
    from dataplane.groups.requests import CommitRequest, OffsetToCommit
    from dataplane.model.ids import TopicPartition

NOTHING_COMMITTED = CommittedOffset()
UNSTABLE = CommittedOffset(error=ErrorCode.UNSTABLE_OFFSET_COMMIT)


class Offsets:
    """`_in_flight` counts commits that are written but not committed yet: they do not expire."""

    def __init__(self, core: ShardCore, consumers: ConsumerParts) -> None:
        self._core = core
        self._consumers = consumers
        self.transactional = TransactionalOffsets(core)
        self._in_flight = InFlight()

    def commit(self, request: CommitRequest, ticket: Ticket) -> Outcome:
        """The reply is a dict from partition to error code."""
        out = Outcome()
        error = self._check_commit(request)
        if error is not ErrorCode.NONE:
            out.reply(ticket, dict.fromkeys(request.offsets, error))
            return out
        group = self._group_of_offsets(request.group_id)
        member = None if group is None else group.members.get(request.member_id)
        if group is not None and member is not None:
            self._core.touch(group, member)
        results, accepted = request.split(self._core.settings.offset_metadata_max_bytes)
        if not accepted:
            out.reply(ticket, results)
            if group is not None:
                self._core.forget_if_blank(group)
            return out
        self._write(request.group_id, accepted, results, ticket, out)
        return out

    def _check_commit(self, request: CommitRequest) -> ErrorCode:
        group = self._core.find(request.group_id)
        has_generation = request.generation >= 0
        if group is None:
            consumers = self._core.consumer_groups.find(request.group_id)
            if consumers is not None:
                return check_commit(consumers, request)
            # Without a generation the group only stores offsets here and manages itself.
            return ErrorCode.ILLEGAL_GENERATION if has_generation else ErrorCode.NONE
        if group.state is GroupState.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if group.state is GroupState.EMPTY and not has_generation:
            return ErrorCode.NONE
        return self._check_member_commit(group, request)

    def _group_of_offsets(self, group_id: str) -> ClassicGroup | None:
        """The classic group that holds offsets, made if need be; None for a consumer group."""
        if self._core.consumer_groups.find(group_id) is not None:
            return self._core.find(group_id)
        return self._core.find_or_create(group_id)

    def _check_member_commit(self, group: ClassicGroup, request: CommitRequest) -> ErrorCode:
        error = self._core.check_member(group, request.member_id, request.group_instance_id)
        if error is ErrorCode.NONE and request.generation != group.generation:
            error = ErrorCode.ILLEGAL_GENERATION
        if error is ErrorCode.NONE and group.state is GroupState.COMPLETING_REBALANCE:
            # The member knows the generation from its JoinGroup; it will learn the rest from Sync.
            error = ErrorCode.REBALANCE_IN_PROGRESS
        return error

    def _write(
        self,
        group_id: str,
        accepted: dict[TopicPartition, OffsetToCommit],
        results: dict[TopicPartition, ErrorCode],
        ticket: Ticket,
        out: Outcome,
    ) -> None:
        now_ms = self._core.clock.realtime_ms()
        places = [(group_id, partition) for partition in accepted]
        self._in_flight.add(places)

        def stored(error: ErrorCode) -> Outcome:
            done = Outcome()
            self._in_flight.remove(places)
            if error is ErrorCode.NONE:
                self._core.tally.commits += len(accepted)
                self._group_of_offsets(group_id)
            answer = offset_write_error(error)
            answers = dict.fromkeys(accepted, answer)
            done.reply(ticket, results | answers if results else answers)
            return done

        out.write(
            [
                commit_record(group_id, partition, asked, now_ms)
                for partition, asked in accepted.items()
            ],
            stored,
        )

    def fetch(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition] | None,
        *,
        require_stable: bool = False,
    ) -> dict[TopicPartition, CommittedOffset]:
        """Committed offsets of the named partitions, or of all; nothing committed is no error.

        `require_stable`: UNSTABLE_OFFSET_COMMIT where a transaction may change them (KIP-447).
        """
        committed = self._core.durable.offsets.get(group_id, {})
        group = self._core.find(group_id)
        if group is not None and group.state is GroupState.DEAD:
            committed = {}
        wanted = committed if partitions is None else partitions
        return {
            partition: UNSTABLE
            if require_stable and self.transactional.is_unstable((group_id, partition))
            else _answer(committed.get(partition))
            for partition in wanted
        }

    def end_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        """A marker is in the log: what the producer has committed in its transaction counts now."""
        for group_id in self._core.durable.end_transaction(producer_id, is_commit=is_commit):
            self._group_of_offsets(group_id)

    def delete(self, group_id: str, partitions: list[TopicPartition], ticket: Ticket) -> Outcome:
        """OffsetDelete (KIP-496). The reply is (group error, dict of partition errors)."""
        out = Outcome()
        refusal, subscribed = self._check_delete(group_id)
        if refusal is not ErrorCode.NONE:
            out.reply(ticket, (refusal, {}))
            return out
        errors = {
            partition: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
            if subscribed is None or partition.topic in subscribed
            else ErrorCode.NONE
            for partition in partitions
        }
        known = self._known(group_id)
        removed = [p for p in partitions if errors[p] is ErrorCode.NONE and p in known]
        if not removed:
            out.reply(ticket, (ErrorCode.NONE, errors))
            return out

        def deleted(error: ErrorCode) -> Outcome:
            done = Outcome()
            if error is not ErrorCode.NONE:
                done.reply(ticket, (offset_write_error(error), {}))
            else:
                self._core.tally.deletions += len(removed)
                done.reply(ticket, (ErrorCode.NONE, errors))
            return done

        out.write(self._tombstones(group_id, removed), deleted)
        return out

    def _check_delete(self, group_id: str) -> tuple[ErrorCode, frozenset[str] | None]:
        """Whether offsets of the group may be deleted, and of which topics they may not.

        None: of no topic, because what the members read is not known.
        """
        group = self._core.find(group_id)
        if group is None:
            consumers = self._core.consumer_groups.find(group_id)
            if consumers is None:
                return ErrorCode.GROUP_ID_NOT_FOUND, frozenset()
            return ErrorCode.NONE, self._consumers.subscriptions.names_of_all(consumers)
        if group.state is GroupState.DEAD:
            return ErrorCode.GROUP_ID_NOT_FOUND, frozenset()
        if group.state is GroupState.EMPTY:
            return ErrorCode.NONE, frozenset()
        if not group.is_consumer_group:
            return ErrorCode.NON_EMPTY_GROUP, frozenset()
        return ErrorCode.NONE, group.subscribed_topics

    def delete_group(self, group_id: str, ticket: Ticket) -> Outcome:
        """DeleteGroups: everything of an empty group. The reply is an error code."""
        out = Outcome()
        group = self._core.find(group_id)
        consumers = self._core.consumer_groups.find(group_id)
        if group is None and consumers is not None:
            self._delete_consumer_group(consumers, ticket, out)
        elif group is None or group.state is GroupState.DEAD:
            out.reply(ticket, ErrorCode.GROUP_ID_NOT_FOUND)
        elif group.state is not GroupState.EMPTY:
            out.reply(ticket, ErrorCode.NON_EMPTY_GROUP)
        else:
            self._end_group(group, list(self._known(group_id)), ticket, out)
        return out

    def _delete_consumer_group(
        self, group: ConsumerGroup, ticket: Ticket | None, out: Outcome
    ) -> None:
        if group.members:
            if ticket is not None:
                out.reply(ticket, ErrorCode.NON_EMPTY_GROUP)
            return
        change = self._consumers.departures.end_group(group)
        removed = self._known(group.group_id)
        change.before += self._tombstones(group.group_id, removed)

        def ended(error: ErrorCode) -> Outcome:
            if ticket is None:
                return self._expired(removed, error)
            done = Outcome()
            done.reply(ticket, offset_write_error(error))
            return done

        self._core.consumer_groups.submit(change, out, ended)

    def _expire_of_consumers(self, group: ConsumerGroup, out: Outcome, now_ms: int) -> None:
        """Offsets of topics that nobody subscribes to expire by their own age, as in Kafka."""
        subscribed = self._consumers.subscriptions.names_of_all(group)
        retention_ms = self._core.settings.offsets_retention_ms
        committed = self._core.durable.offsets.get(group.group_id, {})
        removed = [
            partition
            for partition, value in committed.items()
            if partition.topic not in subscribed
            and not self._is_under_way((group.group_id, partition))
            and _is_older(value, value.commit_timestamp_ms, now_ms, retention_ms)
        ]
        if not group.members and self._known(group.group_id) == set(removed):
            self._delete_consumer_group(group, None, out)
        elif removed:
            out.write(
                self._tombstones(group.group_id, removed), functools.partial(self._expired, removed)
            )

    def expire(self) -> Outcome:
        """KIP-211: drop offsets that nobody needs any more, and groups that have nothing left."""
        out = Outcome()
        now_ms = self._core.clock.realtime_ms()
        for consumers in self._core.consumer_groups.all():
            if self._core.find(consumers.group_id) is None:
                self._expire_of_consumers(consumers, out, now_ms)
        for group in list(self._core.groups.values()):
            committed = self._core.durable.offsets.get(group.group_id, {})
            removed = [
                partition
                for partition, value in committed.items()
                if not self._is_under_way((group.group_id, partition))
                and self._is_expired(group, partition, value, now_ms)
            ]
            is_unused = group.state is GroupState.EMPTY and not group.pending_members
            if is_unused and self._known(group.group_id) == set(removed):
                self._end_group(group, removed, None, out)
            elif removed:
                stored = functools.partial(self._expired, removed)
                out.write(self._tombstones(group.group_id, removed), stored)
        return out

    def _expired(self, removed: Collection[TopicPartition], error: ErrorCode) -> Outcome:
        """What was written has been stored or not; those that are left are tried again."""
        if error is ErrorCode.NONE:
            self._core.tally.expirations += len(removed)
        return Outcome()

    def remove_topics(self, topics: frozenset[str]) -> Outcome:
        """Deleted topics take their committed offsets along."""
        out = Outcome()
        for group_id, committed in self._core.durable.offsets.items():
            removed = [partition for partition in committed if partition.topic in topics]
            is_known = self._core.find(group_id) or self._core.consumer_groups.find(group_id)
            if removed and is_known is not None:
                out.write(self._tombstones(group_id, removed), lambda _error: Outcome())
        return out

    def _is_expired(
        self, group: ClassicGroup, partition: TopicPartition, value: OffsetCommitValue, now_ms: int
    ) -> bool:
        if group.protocol_type is None:
            since_ms = value.commit_timestamp_ms
        elif group.state is GroupState.EMPTY:
            since_ms = group.state_timestamp_ms
        elif group.state is GroupState.STABLE and group.subscribed_topics is not None:
            if partition.topic in group.subscribed_topics:
                return False
            since_ms = value.commit_timestamp_ms
        else:
            return False
        return _is_older(value, since_ms, now_ms, self._core.settings.offsets_retention_ms)

    def _is_under_way(self, place: Place) -> bool:
        """Whether something newer is on its way there."""
        return place in self._in_flight or self.transactional.is_unstable(place)

    def _known(self, group_id: str) -> set[TopicPartition]:
        """Partitions with an offset, stored or on its way."""
        known = set(self._core.durable.offsets.get(group_id, ()))
        known |= self._in_flight.partitions_of(group_id)
        return known | self.transactional.partitions_of(group_id)

    def _tombstones(
        self, group_id: str, partitions: Iterable[TopicPartition]
    ) -> list[CoordinatorRecord]:
        return [commit_tombstone(group_id, part) for part in partitions]

    def _end_group(
        self,
        group: ClassicGroup,
        removed: list[TopicPartition],
        ticket: Ticket | None,
        out: Outcome,
    ) -> None:
        """Delete an empty group and its offsets. It is Dead at once, so that nobody joins it."""
        records = self._tombstones(group.group_id, removed)
        if group.generation > 0 or group.group_id in self._core.durable.groups:
            records.append(group_tombstone(group.group_id))
        # What is stored may say otherwise: that it became empty may have been refused too.
        still_empty = group.empty_copy()
        group.move_to(GroupState.DEAD, now_ms=self._core.clock.realtime_ms())

        def ended(error: ErrorCode) -> Outcome:
            done = Outcome()
            if self._core.find(group.group_id) is group:
                del self._core.groups[group.group_id]
                if error is not ErrorCode.NONE:
                    self._core.groups[group.group_id] = still_empty
            if ticket is None:
                return self._expired(removed, error)
            done.reply(ticket, offset_write_error(error))
            return done

        if records:
            out.write(records, ended)
        else:
            carried_on = ended(ErrorCode.NONE)
            out.replies += carried_on.replies


def _is_older(value: OffsetCommitValue, since_ms: int, now_ms: int, retention_ms: int) -> bool:
    """An expiry of its own counts before the broker's retention."""
    if value.expire_timestamp_ms != NO_TIMESTAMP:
        return now_ms >= value.expire_timestamp_ms
    return now_ms - since_ms >= retention_ms


def _answer(value: OffsetCommitValue | None) -> CommittedOffset:
    if value is None:
        return NOTHING_COMMITTED
    return CommittedOffset(value.offset, value.leader_epoch, value.metadata)
