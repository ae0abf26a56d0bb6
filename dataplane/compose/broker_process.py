"""Puts a broker together from its rooms, starts it, and takes it down again.

The order of starting is the order of what can fail: directories and ports first, then ZooKeeper,
then the rooms, and the registration last, so that nobody is sent here before it can be served.
Whatever has been started is taken down in reverse when a later step fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from dataplane.broker.broker_lifecycle import BrokerLifecycle
from dataplane.broker.housekeeping import Housekeeping
from dataplane.broker.metadata.config_store import ConfigStore
from dataplane.broker.metadata.log_dir_events import report_failure
from dataplane.broker.metadata.metadata_cache import MetadataCache
from dataplane.broker.metadata.registration import (
    Registration,
    RegistrationError,
    ensure_cluster_id,
    ensure_layout,
    epoch_floor,
)
from dataplane.broker.metrics import Metrics
from dataplane.broker.networking.peer_client import PeerPool
from dataplane.broker.networking.peer_login import PeerCredentials
from dataplane.broker.replicas.peer_leadership_check import PeerLeadershipCheck
from dataplane.broker.services import BrokerServices
from dataplane.cluster.image import BrokerInfo, ClusterImage, Endpoint
from dataplane.compose import gauges
from dataplane.compose.components import build_components, build_controller
from dataplane.compose.environment import of_this_machine
from dataplane.compose.listeners import Listeners
from dataplane.compose.replication import build_replica_manager
from dataplane.compose.storage import StorageError, apply_dynamic, broker_id, open_logs
from dataplane.ports.coordinator import CoordinatorError
from dataplane.server.dispatch import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.compose.environment import ClosableBackground, Environment
    from dataplane.config import BrokerConfig
    from dataplane.log.manager.log_manager import LogManager
    from dataplane.model.ids import TopicPartition

_log = logging.getLogger(__name__)

IMAGE_TIMEOUT_S = 30.0
SWEEP_MS = 5_000


class StartError(Exception):
    """The broker cannot start; the message is one line that says which part failed and why."""


class BrokerProcess:
    """One broker. `on_fatal` is called when it can no longer serve and should be stopped."""

    def __init__(
        self,
        config: BrokerConfig,
        *,
        on_fatal: Callable[[], None],
        environment: Environment | None = None,
    ) -> None:
        self.config = config
        self._world = environment or of_this_machine()
        self.failure: str = ""
        self.services: BrokerServices
        self._on_fatal = on_fatal
        self._undo = contextlib.AsyncExitStack()
        self._housekeeping = Housekeeping()
        self._listeners: Listeners
        self._logs: LogManager
        self._registration: Registration
        self._report: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Serve, or raise ConfigError, StartError or OSError with nothing left behind."""
        try:
            await self._start()
        except (CoordinatorError, RegistrationError, StorageError) as error:
            await self._undo.aclose()
            raise StartError(str(error)) from error
        except BaseException:
            await self._undo.aclose()
            raise

    async def stop(self) -> None:
        """Controlled shutdown: hand leaderships over, close listeners, leave a clean log."""
        services = self.services
        _log.info("broker %d is stopping: handing its leaderships over", services.broker_id)
        await self._hand_over()
        services.lifecycle.stopping = True
        await self._undo.aclose()
        _log.info("broker %d has stopped", services.broker_id)

    def where(self) -> str:
        """`listeners=NAME://host:port,…`, as clients are told."""
        told = ",".join(f"{n}://{host}:{port}" for n, host, port, _ in self._listeners.advertised())
        return f"listeners={told}"

    async def _start(self) -> None:
        config = self.config
        undo = self._undo
        world, metrics = self._world, Metrics()
        self._listeners = Listeners(config, metrics, world.bind)
        await self._listeners.bind()
        undo.callback(self._listeners.close)
        coordinator = await world.connect(config)
        undo.push_async_callback(coordinator.close)
        await ensure_layout(coordinator)
        cluster_id = await ensure_cluster_id(coordinator, world.entropy)
        lifecycle = BrokerLifecycle(
            broker_id=broker_id(config),
            cluster_id=cluster_id,
            broker_epoch=await epoch_floor(coordinator),
        )
        configs = ConfigStore(coordinator, world.clock, config, broker_id=lifecycle.broker_id)
        await configs.start()
        undo.push_async_callback(configs.stop)
        services = self.services = BrokerServices(
            lifecycle=lifecycle,
            configs=configs,
            clock=world.clock,
            entropy=world.entropy,
            coordinator=coordinator,
            metadata=MetadataCache(ClusterImage(cluster_id=cluster_id)),
            metrics=metrics,
        )
        background = world.background()
        self._logs = await open_logs(services, world.files, background, world.pacer)
        undo.callback(self._close_logs, background)
        services.peers = self._peers(services.metadata, lifecycle.broker_id)
        undo.push_async_callback(services.peers.close)
        build_controller(services)
        services.partitions = build_replica_manager(
            self._logs,
            lifecycle=lifecycle,
            clock=world.clock,
            entropy=world.entropy,
            configs=configs,
            metadata=services.metadata,
            metrics=metrics,
            peers=services.peers,
            controller_client=services.controller_client,
        )
        services.configs.on_change(self._config_changed)
        self._logs.on_directory_failure(self._directory_failed)
        undo.push_async_callback(services.partitions.stop)
        await build_components(services, undo)
        dispatcher = Dispatcher(services)
        undo.push_async_callback(dispatcher.stop)
        await self._listeners.serve(dispatcher)
        undo.callback(self._listeners.stop)
        gauges.register(services, self._listeners)
        self._start_chores()
        undo.push_async_callback(self._housekeeping.stop)
        await self._register(undo)
        peer_leadership_check = PeerLeadershipCheck(
            coordinator, services.peers, services.metadata, services.partitions, lifecycle
        )
        peer_leadership_check.start()
        undo.push_async_callback(peer_leadership_check.stop)
        await services.controller.start()
        undo.push_async_callback(services.controller.stop)
        await self._wait_for_image()

    def _peers(self, metadata: MetadataCache, broker_id: int) -> PeerPool:
        config = self.config
        return PeerPool(
            client_id=f"broker-{broker_id}",
            listener_name=config.inter_broker_listener,
            metadata=metadata,
            credentials=_credentials(config),
            tls=self._listeners.client_tls(),
            fetch_receive_buffer_bytes=config.get_int("replica.socket.receive.buffer.bytes"),
        )

    async def _register(self, undo: contextlib.AsyncExitStack) -> None:
        services = self.services

        def registered(epoch: int) -> None:
            services.lifecycle.broker_epoch = epoch

        self._registration = Registration(
            services.coordinator,
            BrokerInfo(
                id=services.broker_id,
                rack=self.config.get_str("broker.rack") or None,
                listeners={
                    name: Endpoint(host, port, protocol)
                    for name, host, port, protocol in self._listeners.advertised()
                },
            ),
            clock=services.clock,
            files=self._world.files,
            process_id=self._world.process_id,
            log_dir=self.config.log_dirs[0],
            session_timeout_ms=self.config.get_int("zookeeper.session.timeout.ms"),
            on_registered=registered,
        )
        await self._registration.start()
        undo.push_async_callback(self._registration.stop)

    async def _wait_for_image(self) -> None:
        """Serving begins when the controller has told us about ourselves."""
        services = self.services
        known = asyncio.Event()

        def look(_before: ClusterImage, after: ClusterImage) -> None:
            if services.broker_id in after.brokers:
                known.set()

        services.metadata.on_change(look)
        look(services.metadata.image, services.metadata.image)
        try:
            async with asyncio.timeout(IMAGE_TIMEOUT_S):
                await known.wait()
        except TimeoutError:
            raise StartError("no controller has told this broker about the cluster") from None

    def _start_chores(self) -> None:
        config, services, logs = self.config, self.services, self._logs
        chores = self._housekeeping
        chores.every(1_000, "log upkeep", lambda: logs.tick(services.clock.realtime_ms()))
        chores.every(
            max(1, config.get_int("replica.lag.time.max.ms") // 2),
            "in-sync check",
            services.partitions.tick_isr,
        )
        chores.every(1_000, "owed roles", services.partitions.take_up_owed_roles)
        chores.every(1_000, "full disks", services.partitions.give_up_full_disks)
        chores.every(1_000, "receive buffers", self._listeners.relieve)
        chores.every(SWEEP_MS, "idle connections", self._listeners.sweep)
        services.partitions.moves.resume()

    async def _hand_over(self) -> None:
        """Ask the controller to lead elsewhere what this broker leads (ControlledShutdown)."""
        from dataplane.compose.controlled_shutdown import hand_over

        if self.config.get_bool("controlled.shutdown.enable"):
            services = self.services
            await hand_over(
                services.controller_client, services.metadata, services.lifecycle, services.config
            )

    def _config_changed(self, entity_type: str, name: str) -> None:
        if entity_type == "topics":
            self.services.partitions.topic_config_changed(name)
        elif entity_type == "brokers":
            apply_dynamic(self._logs, self.services.config)
            # Broker settings are the defaults of every topic.
            for topic in {tp.topic for tp in self._logs.all()}:
                self.services.partitions.topic_config_changed(topic)

    def _directory_failed(self, directory: str, lost: list[TopicPartition]) -> None:
        """Replicas in a failed directory are gone; without any directory there is no broker."""
        self.services.partitions.lose(lost)
        if all(report.error for report in self._logs.directories()):
            self.failure = f"every log directory has failed, {directory} last"
            _log.critical(self.failure)
            self._on_fatal()
            return
        self._report = asyncio.get_running_loop().create_task(
            report_failure(self.services.coordinator, self.services.broker_id)
        )

    def _close_logs(self, background: ClosableBackground) -> None:
        self._logs.cleaner.stop()
        background.close()
        try:
            self._logs.shutdown(self.services.broker_epoch)
        except OSError:
            _log.exception("the logs are not closed cleanly; they are checked at the next start")


def _credentials(config: BrokerConfig) -> PeerCredentials | None:
    username = config.get_str("penstock.inter.broker.username")
    if not username:
        return None
    mechanisms = [m for m in config.get_list("sasl.enabled.mechanisms") if m.startswith("SCRAM")]
    return PeerCredentials(
        username,
        config.get_str("penstock.inter.broker.password"),
        mechanisms[0] if mechanisms else "SCRAM-SHA-256",
    )
