"""Commits of offsets within transactions (KIP-98, KIP-447): stored at once, counted by a marker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.commit_records import commit_record
from dataplane.groups.consumer.offset_checks import check_commit
from dataplane.groups.core import offset_write_error
from dataplane.groups.in_flight import InFlight
from dataplane.groups.outcome import Outcome
from dataplane.groups.states import GroupState
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from dataplane.groups.core import ShardCore
    from dataplane.groups.outcome import Producer, Ticket
    from dataplane.groups.pending_offsets import Place
    from dataplane.groups.requests import CommitRequest
    from dataplane.model.ids import TopicPartition


class TransactionalOffsets:
    """`_in_flight` counts what is written and not committed yet: it is unstable already."""

    def __init__(self, core: ShardCore) -> None:
        self._core = core
        self._in_flight = InFlight()

    def commit(self, request: CommitRequest, producer: Producer, ticket: Ticket) -> Outcome:
        """The reply is a dict from partition to error code."""
        out = Outcome()
        error = self._check(request)
        if error is not ErrorCode.NONE:
            out.reply(ticket, dict.fromkeys(request.offsets, error))
            return out
        results, accepted = request.split(self._core.settings.offset_metadata_max_bytes)
        if not accepted:
            out.reply(ticket, results)
            return out
        places = [(request.group_id, partition) for partition in accepted]
        self._in_flight.add(places)

        def stored(refusal: ErrorCode) -> Outcome:
            done = Outcome()
            self._in_flight.remove(places)
            if refusal is ErrorCode.NONE:
                self._core.tally.commits += len(accepted)
            answer = offset_write_error(refusal)
            done.reply(ticket, results | dict.fromkeys(accepted, answer))
            return done

        now_ms = self._core.clock.realtime_ms()
        records = [
            commit_record(request.group_id, partition, asked, now_ms)
            for partition, asked in accepted.items()
        ]
        out.write(records, stored, producer=producer)
        return out

    def _check(self, request: CommitRequest) -> ErrorCode:
        """Who says which member it is must be that one; who says nothing may be anybody.

        All versions may say nothing: the API was there before its fields for members.
        """
        names_nobody = request.names_nobody
        group = self._core.find(request.group_id)
        if group is None:
            consumers = self._core.consumer_groups.find(request.group_id)
            if consumers is not None:
                error = ErrorCode.NONE if names_nobody else check_commit(consumers, request)
                # Producers know the code of generations: they abort, and go on.
                is_stale = error is ErrorCode.STALE_MEMBER_EPOCH
                return ErrorCode.ILLEGAL_GENERATION if is_stale else error
            has_generation = request.generation >= 0
            return ErrorCode.ILLEGAL_GENERATION if has_generation else ErrorCode.NONE
        if group.state is GroupState.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        is_simple = request.generation < 0 and group.state is GroupState.EMPTY
        if is_simple or names_nobody:
            return ErrorCode.NONE
        error = self._core.check_member(group, request.member_id, request.group_instance_id)
        if error is ErrorCode.NONE and request.generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
        return error

    def is_unstable(self, place: Place) -> bool:
        """Whether an open transaction may still change what is committed there."""
        return place in self._in_flight or self._core.durable.pending.holds(place)

    def partitions_of(self, group_id: str) -> set[TopicPartition]:
        """Partitions that open transactions have offsets of the group for."""
        return self._in_flight.partitions_of(group_id) | self._core.durable.pending.partitions_of(
            group_id
        )
