"""One broker that this host shall run: files on disk, a supervisor, and what to report."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.agent.certificates import KEYSTORE_FILE, to_files
from dataplane.agent.processes import Identity
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
from dataplane.agent.zookeeper import AgentZooKeeper
from dataplane.config import format_properties
from dataplane.ports.coordinator import CoordinatorError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator

log = logging.getLogger(__name__)

PROPERTIES_FILE = "broker.properties"
SECRET_FILES = tuple(
    f"{name}{suffix}" for name in (PROPERTIES_FILE, KEYSTORE_FILE) for suffix in ("", ".tmp")
)
"""What an agent writes of a cluster's secrets into a broker's directory."""


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
        self._after = after
        self._supervisor: Supervisor | None = None
        self._desired: DesiredBroker | None = None
        self._done: DesiredBroker | None = None
        self._changed = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"broker-{key}")

    # -- from outside ---------------------------------------------------------------------------

    def want(self, desired: DesiredBroker) -> None:
        self._desired = desired
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
            except Exception as error:
                log.exception("%s could not be made %s", self.key, desired.wanted.value)
                now_ms = self._clock.realtime_ms()
                failed = Report(BrokerState.FAILED, message=str(error), since_ms=now_ms)
                self._publish(failed, desired.generation)
            else:
                self._done = desired

    async def _apply(self, desired: DesiredBroker) -> None:
        log.info(
            "%s shall be %s, generation %d", self.key, desired.wanted.value, desired.generation
        )
        spec = self._spec(desired)
        if desired.wanted is Wanted.RUNNING:
            secret = self._unseal(desired.secret)
            self.home.mkdir(parents=True, exist_ok=True)
            # A file that is renewed is taken up by the broker itself (`server/tls`).
            self._write_properties(desired, to_files(secret, self.home))
            await self._zookeeper.log_in_for(self.key, secret)
            if self._supervisor is not None:
                if self._supervisor.spec == spec and self._is_up(self._supervisor):
                    return
                await self._supervisor.stop()
            self._supervisor = self._supervise(spec)
            await self._supervisor.start()
            # What runs now registers by this login; the one before it has been fenced.
            self._zookeeper.log_out_for(self.key, but=secret)
            return
        if self._supervisor is None:
            self._supervisor = self._supervise(spec)
            # One that an agent before this one started is fenced as this cluster too. A secret
            # that cannot be opened any more does not keep a broker from being stopped.
            with contextlib.suppress(SecretError, CoordinatorError):
                await self._zookeeper.log_in_for(self.key, self._unseal(desired.secret))
        await self._supervisor.stop()
        self._zookeeper.log_out_for(self.key)
        if desired.wanted is Wanted.DELETED:
            await asyncio.to_thread(_remove_tree, self.home)
            now_ms = self._clock.realtime_ms()
            self._publish(Report(BrokerState.DELETED, since_ms=now_ms), desired.generation)
        else:
            self._publish(self._supervisor.report, desired.generation)

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

    def _spec(self, desired: DesiredBroker) -> BrokerSpec:
        return BrokerSpec(
            broker_id=desired.broker_id,
            command=(
                *(sys.executable, "-m", "dataplane", "broker"),
                *("--config", str(self.home / PROPERTIES_FILE)),
            ),
            log_dir=self.home / "data",
            log_file=self.home / "broker.log",
            pid_file=self.home / "broker.pid",
            root=cluster_root(desired),
            generation=desired.generation,
        )

    def _write_properties(self, desired: DesiredBroker, secret: Mapping[str, str]) -> None:
        """The file holds passwords: readable by this user alone from its first byte."""
        settings = {
            **broker_settings(
                desired,
                secret,
                log_dir=str(self.home / "data"),
                own_chroot=self._zookeeper.chroot,
            ),
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
            ),
        )


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
