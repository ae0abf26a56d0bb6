"""Members of one classic group: they join, share partitions, commit, leave, crash and sleep too long.

Each goes on from what the group has committed and commits higher offsets only. So a committed
offset that goes back was either lost, or taken from somebody who did not own its partition any more.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.heartbeat import HeartbeatRequest
from dataplane.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from dataplane.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from dataplane.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from dataplane.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.simulation.chains.offsets import TOPIC, committed_offset
from tests.simulation.chains.session import ANSWER_MS, GROUP, EndedError, Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulation.chains.world import Chains

GROUP_ID = "members"
PARTITIONS = 2
SESSION_TIMEOUT_MS, REBALANCE_TIMEOUT_MS = 2_000, 3_000
JOIN_TIMEOUT_MS = 8_000
"""Longer than any rebalance: an answer that comes is waited for."""
FAREWELLS = ("leave", "crash")


class Shared:
    """What the members know together: of each partition what was sent and what was acknowledged."""

    def __init__(self) -> None:
        self.sent = dict.fromkeys(range(PARTITIONS), -1)
        self.acknowledged = dict.fromkeys(range(PARTITIONS), -1)


class RejoinError(Exception):
    """The group goes on without this generation."""


class Member:
    """`is_idle` once it was told to stop, has committed for a last time as a member, and has left."""

    def __init__(self, chains: Chains, number: int, shared: Shared) -> None:
        self.chains = chains
        self.name = f"member-{number}"
        self.is_stopping = False
        self.is_idle = False
        self._shared = shared
        self._session = Session(chains.sim, self.name)
        self._random = self._session.random
        self._member_id = ""
        self._generation = -1
        self._positions: dict[int, int] = {}

    def start(self) -> None:
        self._session.client.spawn(self._run())

    async def _run(self) -> None:
        await asyncio.sleep(self._random.uniform(0, 2))
        while not self.is_idle:
            try:
                await self._join()
                await self._work()
            except EndedError as ended:
                self._forgotten(ended)
                await asyncio.sleep(0.1)
            except RejoinError:
                pass

    def _forgotten(self, ended: EndedError) -> None:
        said = ErrorCode.of(ended.code)
        self.chains.sim.trace(f"{self.name}: {ended}")
        self.chains.sim.oracle.count(f"members told {said.name}")
        if said is ErrorCode.UNKNOWN_MEMBER_ID:
            self._member_id = ""

    # -- joining

    async def _join(self) -> None:
        """RejoinError, EndedError."""
        self._positions = {}
        request = JoinGroupRequest(
            group_id=GROUP_ID,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=self._member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="shared", metadata=b"")],
        )

        def code_of(answer: Any) -> int:
            if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self._member_id = answer.member_id
                raise RejoinError
            return int(answer.error_code)

        answer = await self._ask(request, 7, code_of, timeout_ms=JOIN_TIMEOUT_MS)
        self._member_id, self._generation = answer.member_id, answer.generation_id
        ids = sorted(member.member_id for member in answer.members)
        sync = SyncGroupRequest(
            group_id=GROUP_ID,
            generation_id=self._generation,
            member_id=self._member_id,
            protocol_type="consumer",
            protocol_name="shared",
            assignments=[
                SyncGroupRequestAssignment(
                    member_id=member_id,
                    assignment=bytes(p for p in range(PARTITIONS) if p % len(ids) == place),
                )
                for place, member_id in enumerate(ids)
            ],
        )
        synced = await self._ask(sync, 5, lambda a: a.error_code, timeout_ms=JOIN_TIMEOUT_MS)
        for partition in synced.assignment:
            found = await committed_offset(self._session, GROUP_ID, TOPIC, partition)
            self._positions[partition] = found
        self.chains.sim.oracle.count("generations joined")
        self.chains.sim.trace(f"{self.name} has {self._positions} in {self._generation}")

    # -- working

    async def _work(self) -> None:
        while True:
            is_last = self.is_stopping
            for partition in self._positions:
                await self._commit(partition)
            beat = HeartbeatRequest(
                group_id=GROUP_ID, generation_id=self._generation, member_id=self._member_id
            )
            await self._ask(beat, 4, lambda a: a.error_code)
            if is_last:
                self.is_idle = True
            if is_last or self._random.random() < 0.05:
                await self._go("leave" if is_last else self._random.choice(FAREWELLS))
                return
            if self._random.random() < 0.05:
                # Behind its session's end it commits first, and only then hears of its end.
                await asyncio.sleep(self._random.uniform(0, 2 * SESSION_TIMEOUT_MS / 1000))
            await asyncio.sleep(self._random.uniform(0, 0.4))

    async def _commit(self, partition: int) -> None:
        offset = self._positions[partition] + self._random.randint(1, 3)
        self._shared.sent[partition] = max(self._shared.sent[partition], offset)
        placed = OffsetCommitRequestPartition(
            partition_index=partition, committed_offset=offset, committed_metadata=""
        )
        request = OffsetCommitRequest(
            group_id=GROUP_ID,
            generation_id_or_member_epoch=self._generation,
            member_id=self._member_id,
            topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[placed])],
        )
        await self._ask(request, 8, lambda a: a.topics[0].partitions[0].error_code)
        self._positions[partition] = offset
        known = self._shared.acknowledged[partition]
        self._shared.acknowledged[partition] = max(known, offset)
        self.chains.sim.oracle.count("offsets committed by members")

    async def _go(self, how: str) -> None:
        """Say so, or vanish: the coordinator's clock finds it out."""
        member_id, self._member_id = self._member_id, ""
        if how == "leave":
            request = LeaveGroupRequest(
                group_id=GROUP_ID, members=[MemberIdentity(member_id=member_id)]
            )
            await self._ask(request, 4, lambda a: a.error_code)
        self.chains.sim.oracle.count(f"members that {how}")

    async def _ask(
        self,
        message: Any,
        version: int,
        code_of: Callable[[Any], int],
        *,
        timeout_ms: int = ANSWER_MS,
    ) -> Any:
        """RejoinError when the group is rebalanced; EndedError."""
        try:
            return await self._session.of_coordinator(
                GROUP, GROUP_ID, message, version, code_of, timeout_ms=timeout_ms
            )
        except EndedError as ended:
            if ended.code == ErrorCode.REBALANCE_IN_PROGRESS:
                raise RejoinError from ended
            raise
