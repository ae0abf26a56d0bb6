"""The agent of one host: watches what is wanted in ZooKeeper, reports what is."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.agent import spec as layout
from dataplane.agent.answering import Answering
from dataplane.agent.capacity import CapacityReports, capacity_of
from dataplane.agent.data_dirs import DataDirs
from dataplane.agent.ensemble import EnsembleError, HomeTree
from dataplane.agent.incarnation import IncarnationError, directory_id_in, incarnation_of
from dataplane.agent.managed_broker import ManagedBroker, forget_secrets, homes, leftovers
from dataplane.agent.processes import adopt
from dataplane.agent.questions import Kind
from dataplane.agent.spec import SpecError
from dataplane.agent.versions import EVERY_S, VersionReports, Versions
from dataplane.config.release import VERSION
from dataplane.ports.coordinator import (
    BadVersionError,
    CoordinatorError,
    NodeExistsError,
    NoNodeError,
    NotAuthorizedError,
    SessionState,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataplane.agent.zookeeper import AgentZooKeeper
    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator, NodeStat, Watch

log = logging.getLogger(__name__)

RETRY_MS = 200
ORPHAN_STOP_TIMEOUT_S = 20.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """What this host is. `port_range` is inclusive at both ends. `replaces_host`: it takes the
    host id over from a data directory that is gone for good. `labels` are for people to find it by.
    `extra_dirs` are further disks by name, `renewed_dirs` those of them that are new ones for good.
    `zookeeper` is the connect string of the agent's session, `adopts_ensemble` whether the tree
    that it leads to may be another one than the host's (`ensemble`).
    """

    host_id: str
    data_dir: Path
    rack: str
    address: str
    port_range: tuple[int, int]
    replaces_host: bool = False
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    extra_dirs: Mapping[str, Path] = dataclasses.field(default_factory=dict)
    renewed_dirs: tuple[str, ...] = ()
    zookeeper: str = ""
    adopts_ensemble: bool = False


class HostAgent:
    """Runs the brokers of one host until it is stopped."""

    def __init__(
        self,
        settings: HostSettings,
        coordinator: Coordinator,
        *,
        clock: Clock,
        unseal: Callable[[str], Mapping[str, str]],
        zookeeper: AgentZooKeeper | None = None,
        preexec: Callable[[], None] | None = None,
        versions: Versions | None = None,
        versions_every_s: float = EVERY_S,
    ) -> None:
        """`versions_every_s`: how often it looks which releases are there."""
        self._settings = settings
        self._coordinator = coordinator
        self._clock = clock
        self._unseal = unseal
        self._zookeeper = zookeeper
        self._preexec = preexec
        self._versions = versions or Versions()
        self._brokers: dict[str, ManagedBroker] = {}
        self._leaving: dict[str, asyncio.Task[None]] = {}
        self._watches: dict[str, Watch] = {}
        self._desired_watch: Watch | None = None
        self._unwritten: dict[str, bytes] = {}
        self._written: dict[str, bytes] = {}
        self._write_now = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._started_at_ms = clock.realtime_ms()
        self._expired = False
        self._tree = HomeTree(
            settings.data_dir,
            coordinator,
            connect=settings.zookeeper,
            adopts=settings.adopts_ensemble,
        )
        self._tree_watch: Watch | None = None
        self._is_proven = False
        self._unproven: list[str] | None = None
        self._answering = Answering(
            settings.host_id,
            coordinator,
            clock=clock,
            home_of=self._home_of,
            further_of=self._further_of,
        )
        self._data_dirs = DataDirs(settings.data_dir, settings.extra_dirs)
        self._capacity = CapacityReports(
            functools.partial(
                capacity_of,
                settings.data_dir,
                settings.port_range,
                directories=self._data_dirs.look,
            ),
            functools.partial(self._put, layout.capacity_path(settings.host_id)),
        )
        self._version_reports = VersionReports(
            self._versions.report,
            functools.partial(self._put, layout.versions_path(settings.host_id)),
            on_change=self._on_versions,
            every_s=versions_every_s,
        )
        self.replaced: asyncio.Future[IncarnationError | EnsembleError] = (
            asyncio.get_running_loop().create_future()
        )
        """Done when this agent has to end: another one has taken its host's id over, or ZooKeeper
        has become another one, of which nothing is believed.
        """

    async def start(self) -> None:
        """Raises IncarnationError (another agent has this host id), EnsembleError (this ZooKeeper
        is not the host's), CoordinatorError, OSError; nothing of what runs was touched by then.
        """
        settings = self._settings
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        self._incarnation = await asyncio.to_thread(incarnation_of, settings.data_dir)
        self._registered = await asyncio.to_thread(
            self._data_dirs.register,
            self._incarnation.directory_id,
            renewed=settings.renewed_dirs,
            takes_over=settings.replaces_host,
        )
        for each in self._registered:
            if each.problem:
                log.warning("data directory %s, %s: %s", each.name, each.path, each.problem)
        self._coordinator.on_session(self._on_session)
        try:
            await self._announce_host()
        except NotAuthorizedError as error:
            raise NotAuthorizedError(
                f"ZooKeeper does not let this agent write as host {settings.host_id}: admit the"
                " host with `manage.py zookeeper host`, and give the agent that file"
            ) from error
        self._tasks.append(asyncio.get_running_loop().create_task(self._write_reports()))
        self._tree_watch = self._tree.watch(self._on_identity)
        desired = layout.desired_path(settings.host_id)
        await self._stop_unwanted(set(await self._coordinator.children(desired)))
        self._desired_watch = self._coordinator.watch_children(desired, self._on_desired)
        self._answering.start()
        self._capacity.start()
        self._version_reports.start()
        log.info("agent of host %s, data in %s", settings.host_id, settings.data_dir)

    async def stop(self, *, keep_brokers: bool) -> None:
        """Stop the brokers too, unless they shall go on for the next agent."""
        for watch in (self._desired_watch, self._tree_watch):
            if watch is not None:
                watch.cancel()
        await self._answering.close()
        await self._capacity.close()
        await self._version_reports.close()
        for watch in self._watches.values():
            watch.cancel()
        await asyncio.gather(
            *(broker.close(keep_running=keep_brokers) for broker in self._brokers.values())
        )
        await self._flush()
        ending = (*self._tasks, *self._leaving.values())
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        alive = layout.alive_path(self._settings.host_id)
        try:
            stat = await self._coordinator.exists(alive)
            if stat is not None and stat.ephemeral_owner == self._coordinator.session_id:
                await self._coordinator.delete(alive)
        except CoordinatorError as error:
            log.info("the host's sign of life ends with the session: %s", error)

    # -- the host itself ------------------------------------------------------------------------

    async def _announce_host(self) -> None:
        settings = self._settings
        await self._tree.prove()
        described = layout.encode_host(
            host_id=settings.host_id,
            rack=settings.rack,
            address=settings.address,
            port_range=settings.port_range,
            agent_version=VERSION,
            incarnation=self._incarnation,
            labels=settings.labels,
            answers=[kind.value for kind in Kind],
            data_dirs=self._registered,
            zookeeper=settings.zookeeper,
            ensemble=self._tree.identity,
        )
        await self._claim(described)
        for path in (
            layout.desired_path(settings.host_id),
            layout.observed_path(settings.host_id),
        ):
            if await self._coordinator.exists(path) is None:
                await self._put(path, b"")
        await self._announce_alive()
        self._is_proven = True
        unproven, self._unproven = self._unproven, None
        if unproven is not None:
            self._on_desired(unproven)

    async def _claim(self, described: bytes) -> None:
        """Register the host as this data directory's, unless it is another's.

        Raises:
            IncarnationError: it is, and this one does not replace it, or may not yet.
        """
        path = layout.host_path(self._settings.host_id)
        while True:
            try:
                found, stat = await self._coordinator.get(path)
            except NoNodeError:
                try:
                    await self._coordinator.create(path, described, make_parents=True)
                except NodeExistsError:
                    continue
                return
            # One without an id was written by an earlier version, or nobody has come yet.
            if directory_id_in(found) not in {"", self._incarnation.directory_id}:
                await self._refuse_unless_replaced(directory_id_in(found))
            try:
                await self._coordinator.set(path, described, stat.version)
            except (BadVersionError, NoNodeError):
                continue
            return

    async def _refuse_unless_replaced(self, directory_id: str) -> None:
        """Raises IncarnationError."""
        host_id = self._settings.host_id
        stat = await self._coordinator.exists(layout.alive_path(host_id))
        is_alive = stat is not None and stat.ephemeral_owner != self._coordinator.session_id
        if self._settings.replaces_host and not is_alive:
            log.warning("host %s is no longer data directory %s", host_id, directory_id)
            return
        advice = (
            "that agent is alive; this one needs another --host-id"
            if is_alive
            else "give this one another --host-id, or --replace-host if that directory is lost"
        )
        raise IncarnationError(
            f"host id {host_id} belongs to data directory {directory_id}: {advice}"
        )

    async def _announce_alive(self) -> None:
        """An earlier agent's sign of life may still stand: its session has not timed out yet."""
        path = layout.alive_path(self._settings.host_id)
        sign = json.dumps({"pid": os.getpid(), "started_at_ms": self._started_at_ms}).encode()
        while True:
            try:
                await self._coordinator.create(path, sign, ephemeral=True)
            except NodeExistsError:
                stat = await self._coordinator.exists(path)
                if stat is None:
                    continue
                if stat.ephemeral_owner == self._coordinator.session_id:
                    return
                # The host is this data directory's, whose lock says that no other agent runs on it.
                try:
                    await self._coordinator.delete(path, stat.version)
                except NoNodeError:
                    continue
            else:
                return

    async def _put(self, path: str, data: bytes) -> None:
        try:
            await self._coordinator.set(path, data)
        except NoNodeError:
            try:
                await self._coordinator.create(path, data, make_parents=True)
            except NodeExistsError:
                await self._coordinator.set(path, data)

    def _on_session(self, state: SessionState) -> None:
        if state is SessionState.EXPIRED:
            self._expired = True
            # One string may name servers of two ensembles: the next session may be another's.
            self._is_proven = False
        elif state is SessionState.CONNECTED:
            self._write_now.set()
            if self._expired:
                self._expired = False
                self._tasks.append(asyncio.get_running_loop().create_task(self._announce_again()))

    async def _announce_again(self) -> None:
        while True:
            try:
                await self._announce_host()
            except CoordinatorError as error:
                log.warning("the host could not be announced: %s", error)
                await asyncio.sleep(RETRY_MS / 1000)
            except (IncarnationError, EnsembleError) as error:
                self._end(error)
                return
            except OSError as error:
                log.warning("the host could not be announced: %s", error)
                await asyncio.sleep(RETRY_MS / 1000)
            else:
                return

    def _on_identity(self) -> None:
        """The tree has an identity now: it is kept, and said."""
        self._tasks.append(asyncio.get_running_loop().create_task(self._announce_again()))

    def _end(self, error: IncarnationError | EnsembleError) -> None:
        if not self.replaced.done():
            self.replaced.set_result(error)

    # -- what is wanted -------------------------------------------------------------------------

    def _on_desired(self, keys: list[str]) -> None:
        if not self._is_proven:
            self._unproven = keys
            return
        for key in keys:
            if key not in self._watches:
                self._brokers[key] = self._manage(key)
                self._watches[key] = self._coordinator.watch_data(
                    layout.desired_path(self._settings.host_id, key), self._follow(key)
                )
        for key in self._watches.keys() - set(keys):
            # Forgotten without a word: the process ends, the data stays, and no secret does.
            self._watches.pop(key).cancel()
            broker = self._brokers.pop(key)
            self._unwritten.pop(key, None)
            self._written.pop(key, None)
            self._leaving[key] = asyncio.get_running_loop().create_task(self._let_go(key, broker))

    async def _let_go(self, key: str, broker: ManagedBroker) -> None:
        await broker.close(keep_running=False)
        try:
            await broker.forget()
        except OSError as error:
            log.warning("secrets of %s stay on this host: %s", key, error)
        if self._leaving[key] is asyncio.current_task():
            del self._leaving[key]

    def _on_versions(self) -> None:
        """Another release is there, or one is gone: what was refused for that is tried again."""
        for broker in self._brokers.values():
            broker.try_again()

    def _home_of(self, key: str) -> Path | None:
        """Of a desired broker; what else may lie in the data directory is nobody's to ask for."""
        broker = self._brokers.get(key)
        return None if broker is None or key.startswith(".") else broker.home

    def _further_of(self, key: str) -> Mapping[str, Path]:
        broker = self._brokers.get(key)
        return {} if broker is None else broker.further_dirs

    def _manage(self, key: str) -> ManagedBroker:
        return ManagedBroker(
            key,
            self._settings.data_dir / key,
            self._coordinator,
            clock=self._clock,
            unseal=self._unseal,
            report=self._on_report,
            zookeeper=self._zookeeper,
            preexec=self._preexec,
            versions=self._versions,
            data_dirs=self._data_dirs,
            after=self._leaving.get(key),
        )

    def _follow(self, key: str) -> Callable[[bytes | None, NodeStat | None], None]:
        def changed(data: bytes | None, _stat: NodeStat | None) -> None:
            if data is None:
                return
            broker = self._brokers[key]
            try:
                broker.want(layout.decode_desired(key, data))
            except SpecError as error:
                why = f"the desired state cannot be understood: {error}"
                broker.refuse(why, layout.generation_of(data))

        return changed

    async def _stop_unwanted(self, wanted: set[str]) -> None:
        """Processes and secrets that an earlier agent left and nobody wants any more."""
        for key, identity in leftovers(self._settings.data_dir):
            if key in wanted:
                continue  # taken up, or stopped, by its ManagedBroker
            process = adopt(identity)
            if process is not None:
                log.warning("stopping %s, pid %d, which nobody wants", key, identity.pid)
                await process.stop(ORPHAN_STOP_TIMEOUT_S)
            (self._settings.data_dir / key / "broker.pid").unlink(missing_ok=True)
        for home in homes(self._settings.data_dir):
            if home.name not in wanted:
                log.info("removing what %s had of its cluster's secrets", home.name)
                await asyncio.to_thread(forget_secrets, home)

    # -- what is --------------------------------------------------------------------------------

    def _on_report(self, key: str, data: bytes) -> None:
        self._unwritten[key] = data
        self._write_now.set()

    async def _write_reports(self) -> None:
        while True:
            await self._write_now.wait()
            self._write_now.clear()
            await self._flush()

    async def _flush(self) -> None:
        """Write what has changed; what cannot be written now is kept for later."""
        batch, self._unwritten = self._unwritten, {}
        for key, data in batch.items():
            if key not in self._brokers or self._written.get(key) == data:
                continue
            try:
                await self._put(layout.observed_path(self._settings.host_id, key), data)
                self._written[key] = data
            except CoordinatorError as error:
                log.warning("the report of %s could not be written: %s", key, error)
                self._unwritten.setdefault(key, data)
