"""Committed offsets: read as consumers do, committed by groups that transact nothing, watched."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from dataplane.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from tests.simulation.chains.session import GROUP, EndedError, Session

if TYPE_CHECKING:
    from tests.simulation.chains.world import Chains

TOPIC = "feed"


async def committed_offset(session: Session, group_id: str, topic: str, partition: int) -> int:
    """-1 when there is none. EndedError."""
    request = OffsetFetchRequest(
        group_id=group_id,
        topics=[OffsetFetchRequestTopic(name=topic, partition_indexes=[partition])],
        require_stable=True,
    )
    answer = await session.of_coordinator(
        GROUP,
        group_id,
        request,
        7,
        lambda a: a.error_code or a.topics[0].partitions[0].error_code,
    )
    return int(answer.topics[0].partitions[0].committed_offset)


class Committer:
    """A group without members: commits one offset after the other, each higher than the last."""

    def __init__(self, chains: Chains, number: int) -> None:
        self.chains = chains
        self.group_id = f"plain-{number}"
        self.sent = -1
        self.acknowledged = -1
        self.is_stopping = False
        self.is_idle = False
        self._session = Session(chains.sim, self.group_id)

    def start(self) -> None:
        self._session.client.spawn(self._run())

    async def _run(self) -> None:
        random = self._session.random
        while not self.is_stopping:
            await asyncio.sleep(random.uniform(0, 0.4))
            self.sent += random.randint(1, 3)
            await self._commit(self.sent)
        self.is_idle = True

    async def _commit(self, offset: int) -> None:
        partition = OffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=""
        )
        request = OffsetCommitRequest(
            group_id=self.group_id,
            topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])],
        )
        try:
            await self._session.of_coordinator(
                GROUP, self.group_id, request, 8, lambda a: a.topics[0].partitions[0].error_code
            )
        except EndedError as ended:
            self.chains.sim.trace(f"{self.group_id}: {ended}")
            if ended.code != ErrorCode.NONE:
                self.chains.sim.violate("committed offsets stay", f"{self.group_id}: {ended}")
            return
        self.acknowledged = offset
        self.chains.sim.oracle.count("offsets committed")


class Watcher:
    """Asks for committed offsets again and again; what it is told goes to the invariants."""

    def __init__(self, chains: Chains, session: Session) -> None:
        self.chains = chains
        self.is_stopping = False
        self._seen: dict[str, int] = {}
        self._session = session

    def start(self) -> None:
        self._session.client.spawn(self._run())

    async def _run(self) -> None:
        random = self._session.random
        while not self.is_stopping:
            await asyncio.sleep(random.uniform(0, 0.3))
            if self.chains.members and random.random() < 0.3:
                await self.look_at_members(random.choice(sorted(self.chains.shared.sent)))
            elif random.random() < 0.5:
                await self.look_at_chain(random.randrange(self.chains.count))
            elif self.chains.committers:
                await self.look_at_group(random.choice(self.chains.committers))

    async def look_at_chain(self, source: int) -> None:
        ledger = self.chains.ledger
        least = ledger.committed_at_least(source)
        await self._look("chain", source, least, lambda: ledger.committed_at_most(source))

    async def look_at_group(self, committer: Committer) -> None:
        await self._look(committer.group_id, 0, committer.acknowledged, lambda: committer.sent)

    async def look_at_members(self, partition: int) -> None:
        shared = self.chains.shared
        least = shared.acknowledged[partition]
        await self._look("members", partition, least, lambda: shared.sent[partition])

    async def _look(self, group_id: str, partition: int, least: int, most) -> None:
        """`least` was acknowledged before the question, `most` sent before the answer.

        What somebody was told counts as much: he may have gone on from there.
        """
        place = f"{group_id} {partition}"
        least = max(least, self._seen.get(place, -1))
        try:
            offset = await committed_offset(self._session, group_id, TOPIC, partition)
        except EndedError as ended:
            self.chains.sim.trace(f"offset-watcher: {group_id}: {ended}")
            return
        self.chains.sim.oracle.count("committed offsets read")
        self._seen[place] = max(offset, self._seen.get(place, -1))
        if not least <= max(offset, 0 if least == 0 else -1) <= most():
            self.chains.sim.violate(
                "committed offsets stay",
                f"{group_id} has {offset} committed in {TOPIC}-{partition}; "
                f"{least} was acknowledged or read, {most()} is the highest that was sent",
            )
