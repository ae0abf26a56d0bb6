"""One broker that this host shall run: files on disk, a supervisor, and what to report."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import logging
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.agent.certificates import KEYSTORE_FILE, to_files
from dataplane.agent.data_dirs import MAIN, DataDirs
from dataplane.agent.fence import read_software
from dataplane.agent.log_dirs import LogDir, LogDirError, LogDirs
from dataplane.agent.processes import Identity, start_ticks_of
from dataplane.agent.secrets import SecretError
from dataplane.agent.spec import (
    DesiredBroker,
    Wanted,
    broker_settings,
    cluster_root,
    encode_observed,
)
from dataplane.agent.states import BrokerState
from dataplane.agent.supervisor import BrokerSpec, Report, Supervisor
from dataplane.agent.versions import OWN, Release, VersionError, Versions
from dataplane.agent.zookeeper import AgentZooKeeper
from dataplane.config import format_properties
from dataplane.ports.coordinator import CoordinatorError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator

log = logging.getLogger(__name__)

PROPERTIES_FILE = "broker.properties"
PID_FILE = "broker.pid"
STARTED_FILE = "started.json"
GONE = ("/nonexistent/the-version-is-not-installed-any-more",)
"""The command of a broker whose release was removed under it: a start says so."""
SECRET_FILES = tuple(
    f"{name}{suffix}" for name in (PROPERTIES_FILE, KEYSTORE_FILE) for suffix in ("", ".tmp")
)
"""What an agent writes of a cluster's secrets into a broker's directory."""


@dataclasses.dataclass(frozen=True, slots=True)
class Started:
    """Which release a broker was started of, and with which connect string to ZooKeeper; kept
    beside its pid, for the next agent.
    """

    generation: int = 0
    version: str = ""
    digest: str = ""
    zookeeper: str = ""

    def save(self, home: Path) -> None:
        """Blocking. OSError."""
        temporary = home / f"{STARTED_FILE}.tmp"
        temporary.write_text(json.dumps(dataclasses.asdict(self)))
        temporary.replace(home / STARTED_FILE)

    @classmethod
    def load(cls, home: Path, generation: int) -> Started:
        """What is known of the process of this generation, which an earlier agent started: perhaps
        nothing. Blocking.
        """
        try:
            found = cls(**json.loads((home / STARTED_FILE).read_text()))
        except (OSError, ValueError, TypeError):
            return cls(generation)
        return found if found.generation == generation else cls(generation)


class ManagedBroker:
    """Applies one desired state after another to a broker; the latest wins."""

    def __init__(
        self,
        key: str,
        home: Path,
        coordinator: Coordinator,
        *,
        clock: Clock,
        unseal: Callable[[str], Mapping[str, str]],
        report: Callable[[str, bytes], None],
        zookeeper: AgentZooKeeper | None = None,
        preexec: Callable[[], None] | None = None,
        versions: Versions | None = None,
        data_dirs: DataDirs | None = None,
        after: asyncio.Task[None] | None = None,
    ) -> None:
        """`after` ends what the broker was before, in the same directory: nothing begins sooner."""
        self.key = key
        self.home = home
        self._coordinator = coordinator
        self._clock = clock
        self._unseal = unseal
        self._report = report
        self._zookeeper = zookeeper or AgentZooKeeper()
        self._preexec = preexec
        self._versions = versions or Versions()
        self._started = Started()
        self._dirs = LogDirs(key, home, data_dirs or DataDirs(home.parent))
        self._log_dirs: list[LogDir] = []
        self._after = after
        self._supervisor: Supervisor | None = None
        self._desired: DesiredBroker | None = None
        self._done: DesiredBroker | None = None
        self._changed = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"broker-{key}")

    # -- from outside ---------------------------------------------------------------------------

    @property
    def further_dirs(self) -> dict[str, Path]:
        """Its log directories on other disks than the first, by name."""
        return {each.name: each.path for each in self._log_dirs if each.name != MAIN}

    def want(self, desired: DesiredBroker) -> None:
        self._desired = desired
        self._changed.set()

    def try_again(self) -> None:
        """What was refused may be possible now; what is done stays so."""
        self._changed.set()

    def refuse(self, message: str, generation: int) -> None:
        """What is wanted cannot be understood: what runs is left as it is, which is not that."""
        log.warning("%s: %s", self.key, message)
        now_ms = self._clock.realtime_ms()
        self._publish(Report(BrokerState.FAILED, message=message, since_ms=now_ms), generation)

    async def close(self, *, keep_running: bool) -> None:
        """The agent ends. With `keep_running` the process stays, for the next agent to take up."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._after is not None and not keep_running:
            await asyncio.wait({self._after})  # whoever waits for this end waits for that one too
        if self._supervisor is None:
            return
        if keep_running:
            await self._supervisor.release()
        else:
            await self._supervisor.stop()

    async def forget(self) -> None:
        """Nobody desires the broker any more, and it was closed: keep nothing of its secrets.

        Its data stays: that is removed only where a broker is desired to be deleted.
        """
        self._zookeeper.log_out_for(self.key)
        await asyncio.to_thread(forget_secrets, self.home)

    # -- inside ---------------------------------------------------------------------------------

    async def _run(self) -> None:
        if self._after is not None:
            await asyncio.wait({self._after})  # which goes on if this here is cancelled
            self._after = None
        while True:
            await self._changed.wait()
            self._changed.clear()
            desired = self._desired
            if desired is None or desired == self._done:
                continue
            try:
                await self._apply(desired)
            except (VersionError, LogDirError) as error:
                self.refuse(str(error), desired.generation)
            except Exception as error:
                log.exception("%s could not be made %s", self.key, desired.wanted.value)
                now_ms = self._clock.realtime_ms()
                failed = Report(BrokerState.FAILED, message=_said(error), since_ms=now_ms)
                self._publish(failed, desired.generation)
            else:
                self._done = desired

    async def _apply(self, desired: DesiredBroker) -> None:
        log.info(
            "%s shall be %s, generation %d", self.key, desired.wanted.value, desired.generation
        )
        if desired.wanted is Wanted.RUNNING:
            # First of all: where its version or a disk is not there, what runs goes on as it is.
            try:
                started, spec = await asyncio.to_thread(self._release_of, desired)
                await asyncio.to_thread(self._dirs.check, desired.log_dirs)
            except (VersionError, LogDirError):
                await self._watch_what_runs(desired)
                raise
            secret = self._unseal(desired.secret)
            self.home.mkdir(parents=True, exist_ok=True)
            # A file that is renewed is taken up by the broker itself (`server/tls`).
            files = to_files(secret, self.home)
            self._check_settings(desired, files)
            await self._zookeeper.log_in_for(self.key, secret)
            if self._supervisor is not None:
                if self._supervisor.spec == spec and self._is_up(self._supervisor):
                    return
                await self._supervisor.stop()
            supervisor = self._supervise(spec)
            await self._settle_directories(desired, supervisor)
            self._write_properties(desired, files)
            await asyncio.to_thread(started.save, self.home)
            self._started = started
            self._supervisor = supervisor
            await self._supervisor.start()
            # What runs now registers by this login; the one before it has been fenced.
            self._zookeeper.log_out_for(self.key, but=secret)
            return
        if self._supervisor is None:
            self._supervisor = self._supervise(self._spec(desired))
            # One that an agent before this one started is fenced as this cluster too. A secret
            # that cannot be opened any more does not keep a broker from being stopped.
            with contextlib.suppress(SecretError, CoordinatorError):
                await self._zookeeper.log_in_for(self.key, self._unseal(desired.secret))
        await self._supervisor.stop()
        self._zookeeper.log_out_for(self.key)
        if desired.wanted is Wanted.DELETED:
            await asyncio.to_thread(self._dirs.remove)
            await asyncio.to_thread(_remove_tree, self.home)
            now_ms = self._clock.realtime_ms()
            self._publish(Report(BrokerState.DELETED, since_ms=now_ms), desired.generation)
        else:
            self._publish(self._supervisor.report, desired.generation)

    async def _settle_directories(self, desired: DesiredBroker, supervisor: Supervisor) -> None:
        """Between two processes: what runs as it is wanted is not touched.

        Raises:
            LogDirError: the host cannot give the broker what is wanted.
        """
        left = await asyncio.to_thread(Identity.load, self.home / PID_FILE)
        if left is not None and left.generation == desired.generation and _runs(left):
            self._log_dirs = await asyncio.to_thread(self._dirs.now)
            return
        await supervisor.clear()
        self._log_dirs = await asyncio.to_thread(
            self._dirs.settle, desired.log_dirs, desired.given_up
        )

    async def _watch_what_runs(self, desired: DesiredBroker) -> None:
        """What an earlier agent started goes on though what is wanted now cannot be: its end is
        seen and fenced, and it is started again of what it was.
        """
        if self._supervisor is not None:
            return
        left = await asyncio.to_thread(Identity.load, self.home / PID_FILE)
        if left is None or not _runs(left):
            return
        started = await asyncio.to_thread(Started.load, self.home, left.generation)
        release = None
        with contextlib.suppress(VersionError):
            release = await asyncio.to_thread(self._versions.find, started.version or OWN)
        with contextlib.suppress(SecretError, CoordinatorError):
            await self._zookeeper.log_in_for(self.key, self._unseal(desired.secret))
        self._started = started
        with contextlib.suppress(LogDirError):
            self._log_dirs = await asyncio.to_thread(self._dirs.now)
        spec = dataclasses.replace(self._spec(desired, release), generation=left.generation)
        self._supervisor = self._supervise(spec)
        await self._supervisor.start()

    @staticmethod
    def _is_up(supervisor: Supervisor) -> bool:
        return supervisor.report.state not in (BrokerState.STOPPED, BrokerState.FAILED)

    def _supervise(self, spec: BrokerSpec) -> Supervisor:
        return Supervisor(
            spec,
            self._coordinator,
            clock=self._clock,
            # Until the next one has been applied, what runs is still of this generation.
            on_change=lambda report: self._publish(report, spec.generation),
            preexec=self._preexec,
        )

    def _release_of(self, desired: DesiredBroker) -> tuple[Started, BrokerSpec]:
        """What is started, and how. Blocking.

        A process that runs with this very assignment is taken up also when its release has been
        removed meanwhile: only a start needs it.

        Raises:
            VersionError: the host has no such version, or it may not run.
        """
        left = Identity.load(self.home / PID_FILE)
        is_up = left is not None and left.generation == desired.generation and _runs(left)
        try:
            release = self._versions.find(desired.version)
        except VersionError:
            if not is_up:
                raise
            return Started.load(self.home, desired.generation), self._spec(desired)
        spec = self._spec(desired, release)
        if is_up:
            return Started.load(self.home, desired.generation), spec
        connect = desired.config.get("zookeeper.connect", "")
        return Started(desired.generation, release.name, release.digest, connect), spec

    def _spec(self, desired: DesiredBroker, release: Release | None = None) -> BrokerSpec:
        """Without a release it is one that can be stopped and watched, and does not start."""
        return BrokerSpec(
            broker_id=desired.broker_id,
            command=(
                *(release.command if release is not None else GONE),
                *("broker", "--config", str(self.home / PROPERTIES_FILE)),
            ),
            environment=release.environment if release is not None else (),
            log_dir=self.home / "data",
            log_file=self.home / "broker.log",
            pid_file=self.home / PID_FILE,
            root=cluster_root(desired),
            generation=desired.generation,
        )

    def _check_settings(
        self, desired: DesiredBroker, secret: Mapping[str, str], log_dirs: str = ""
    ) -> dict[str, str]:
        """Raises SpecError, before anything of what runs is touched."""
        return broker_settings(
            desired,
            secret,
            log_dirs=log_dirs or str(self.home / "data"),
            own_chroot=self._zookeeper.chroot,
        )

    def _write_properties(self, desired: DesiredBroker, secret: Mapping[str, str]) -> None:
        """The file holds passwords: readable by this user alone from its first byte."""
        log_dirs = ",".join(str(each.path) for each in self._log_dirs)
        settings = {
            **self._check_settings(desired, secret, log_dirs),
            **self._zookeeper.connection,
        }
        text = format_properties(dict(sorted(settings.items())))
        temporary = self.home / f"{PROPERTIES_FILE}.tmp"
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
        temporary.replace(self.home / PROPERTIES_FILE)

    def _publish(self, report: Report, generation: int) -> None:
        tail = self._supervisor.log_tail() if self._supervisor else []
        self._report(
            self.key,
            encode_observed(
                generation=generation,
                state=report.state.value,
                pid=report.pid,
                restarts=report.restarts,
                since_ms=report.since_ms,
                exit_code=report.exit_code,
                message=report.message,
                log_tail=tail if report.state is not BrokerState.RUNNING else [],
                ends=report.ends,
                version=self._said(report.pid),
                log_dirs=self._log_dirs,
                zookeeper=self._started.zookeeper,
            ),
        )

    def _said(self, pid: int | None) -> dict[str, str]:
        """What the process was started of, and what it says of itself."""
        software, protocol = read_software(self.home / "data", pid) if pid is not None else ("", "")
        started = self._started
        return {
            "name": started.version,
            "digest": started.digest,
            "software": software,
            "protocol": protocol,
        }


def _runs(process: Identity) -> bool:
    return start_ticks_of(process.pid) == process.start_ticks


def _remove_tree(home: Path) -> None:
    """Blocking. Only ever a directory that an agent made for a broker."""
    if home.is_dir():
        shutil.rmtree(home)


def forget_secrets(home: Path) -> None:
    """Blocking. Remove what an agent wrote of secrets into a broker's directory. OSError."""
    for name in SECRET_FILES:
        (home / name).unlink(missing_ok=True)


def homes(data_dir: Path) -> list[Path]:
    """The directories of brokers that hold secrets, whether or not these run."""
    found = {path.parent for name in SECRET_FILES for path in data_dir.glob(f"*/{name}")}
    return sorted(found)


def leftovers(data_dir: Path) -> list[tuple[str, Identity]]:
    """Broker processes that an earlier agent left behind, by key."""
    found = []
    for pid_file in sorted(data_dir.glob("*/broker.pid")):
        identity = Identity.load(pid_file)
        if identity is not None:
            found.append((pid_file.parent.name, identity))
    return found


def _said(error: Exception) -> str:
    """As the broker's tenant reads it: of the system's own errors the words without the path."""
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)
