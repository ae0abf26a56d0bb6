"""Puts a broker together from its components, starts it, and takes it down again.

The order of starting is the order of what can fail: directories and ports first, then ZooKeeper,
then the components; connections are accepted once no earlier life of this broker is registered any
more, and the registration comes last, so that nobody is sent here before it can be served.
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
from dataplane.broker.metadata.directory_fence import DirectoryFence
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
from dataplane.cluster.image import BrokerInfo, ClusterImage, Endpoint
from dataplane.compose import alert_gauges, coordinator_gauges, gauges, quota_gauges
from dataplane.compose.components import build_components
from dataplane.compose.environment import of_this_machine
from dataplane.compose.listeners import Listeners
from dataplane.compose.storage import StorageError, apply_dynamic, broker_id, open_logs
from dataplane.config import ConfigError
from dataplane.config.inter_broker import PROTOCOL_KEY
from dataplane.config.sasl import PLAIN, SCRAM, enabled_mechanisms
from dataplane.handlers.audit_entries import PEERS_CLIENT_ID
from dataplane.ports.coordinator import CoordinatorError
from dataplane.replication.leader import LOOKS_PER_LAG_TIME
from dataplane.server.dispatch import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.replicas.replica_manager import ReplicaManager
    from dataplane.compose.components import Components
    from dataplane.compose.environment import ClosableBackground, Environment
    from dataplane.config import BrokerConfig
    from dataplane.log.manager.log_manager import LogManager
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.clock import Clock

_log = logging.getLogger(__name__)

IMAGE_TIMEOUT_S = 30.0
SWEEP_MS = 5_000
TLS_FILES_MS = 5_000
AUDIT_MS = 1_000


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
        self.failure: str = ""
        self.components: Components | None = None
        """What the broker is made of; None until its logs are open."""
        self._environment = environment or of_this_machine()
        self._on_fatal = on_fatal
        self._undo = contextlib.AsyncExitStack()
        self._metrics = Metrics()
        self._listeners = Listeners(config, self._metrics, self._environment.bind)
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
        components = self.components
        if components is not None:
            broker_id = components.lifecycle.broker_id
            _log.info("broker %d is stopping: handing its leaderships over", broker_id)
            await self._hand_over(components)
            components.lifecycle.stopping = True
        await self._undo.aclose()
        _log.info("broker %d has stopped", self.config.broker_id)

    def where(self) -> str:
        """`listeners=NAME://host:port,…`, as clients see them."""
        listeners = ",".join(
            f"{n}://{host}:{port}" for n, host, port, _ in self._listeners.advertised()
        )
        return f"listeners={listeners}"

    async def _start(self) -> None:
        undo = self._undo
        await self._listeners.bind()
        undo.callback(self._listeners.close)
        components = self.components = await self._build()
        components.configs.on_change(
            lambda entity_type, name: self._config_changed(components, entity_type, name)
        )
        components.logs.on_directory_failure(
            lambda directory, lost: self._directory_failed(components, directory, lost)
        )
        undo.push_async_callback(components.replica_manager.stop)
        await components.authorizer.start()
        undo.push_async_callback(components.authorizer.stop)
        await components.producer_ids.start()
        undo.push_async_callback(components.producer_ids.stop)
        await components.group_coordinator.start()
        undo.push_async_callback(components.group_coordinator.stop)
        transactions = components.handlers.transaction_coordinator
        await transactions.start()
        undo.push_async_callback(transactions.stop)
        verifier = components.handlers.transaction_verifier
        undo.push_async_callback(verifier.stop)
        dispatcher = Dispatcher(components.handlers)
        undo.push_async_callback(dispatcher.stop)
        components.handlers.sasl.prepare()
        registration = await self._registration(components)
        # While an earlier life still counts, clients would find a broker that knows nothing.
        await registration.wait_until_free()
        await self._listeners.serve(
            dispatcher,
            components.configs.broker_config,
            components.handlers.quotas.addresses,
            components.handlers.audit,
        )
        undo.callback(self._listeners.stop)
        components.handlers.quotas.on_change(self._listeners.forget_routes)
        self._listeners.follow_tls_files(components.configs.broker_config)
        components.handlers.config_admin.on_broker_change(
            self._listeners.check_tls, self._listeners.follow_tls_files
        )
        gauges.register(
            self._metrics,
            components.replica_manager,
            components.metadata_cache,
            components.controller,
            self._listeners,
        )
        coordinator_gauges.register_groups(self._metrics, components.handlers.group_coordinator)
        coordinator_gauges.register_transactions(self._metrics, transactions)
        coordinator_gauges.register_verifications(self._metrics, verifier)
        quota_gauges.register(self._metrics, components.handlers.quotas)
        alert_gauges.register_producers(
            self._metrics, components.replica_manager, components.configs, self._environment.clock
        )
        alert_gauges.register_controller(self._metrics, components.controller)
        alert_gauges.register_changes(self._metrics, components.configs, components.authorizer)
        alert_gauges.register_audit(self._metrics)
        housekeeping = Housekeeping()
        self._start_chores(components, housekeeping)
        undo.push_async_callback(housekeeping.stop)
        await registration.start()
        undo.push_async_callback(registration.stop)
        components.peer_leadership_check.start()
        undo.push_async_callback(components.peer_leadership_check.stop)
        await components.controller.start()
        undo.push_async_callback(components.controller.stop)
        await _wait_for_image(components.metadata_cache, components.lifecycle.broker_id)

    async def _build(self) -> Components:
        """Connect to ZooKeeper, read the settings, open the logs, and build the rest on them."""
        config, environment, undo = self.config, self._environment, self._undo
        coordinator = await environment.connect(config)
        times = self._metrics.zookeeper_times
        coordinator.on_answer(lambda seconds: times.observe(1000 * seconds))
        undo.push_async_callback(coordinator.close)
        await ensure_layout(coordinator)
        lifecycle = BrokerLifecycle(
            broker_id=broker_id(config),
            cluster_id=await ensure_cluster_id(coordinator, environment.entropy),
            broker_epoch=await epoch_floor(coordinator),
        )
        configs = ConfigStore(coordinator, environment.clock, config, broker_id=lifecycle.broker_id)
        await configs.start()
        undo.push_async_callback(configs.stop)
        background = environment.background()
        logs = await open_logs(configs, lifecycle, self._metrics, environment, background)
        undo.callback(_close_logs, logs, background, lifecycle)
        metadata_cache = MetadataCache(ClusterImage(cluster_id=lifecycle.cluster_id))
        peers = PeerPool(
            client_id=f"{PEERS_CLIENT_ID}{lifecycle.broker_id}",
            listener_name=config.inter_broker_listener,
            metadata_cache=metadata_cache,
            credentials=_credentials(config),
            tls=self._listeners.client_tls(),
            fetch_receive_buffer_bytes=config.get_int("replica.socket.receive.buffer.bytes"),
        )
        undo.push_async_callback(peers.close)
        return build_components(
            environment,
            coordinator,
            lifecycle=lifecycle,
            configs=configs,
            metadata_cache=metadata_cache,
            metrics=self._metrics,
            peers=peers,
            logs=logs,
        )

    async def _registration(self, components: Components) -> Registration:
        lifecycle = components.lifecycle

        def registered(epoch: int) -> None:
            lifecycle.broker_epoch = epoch

        fence = DirectoryFence(
            components.coordinator,
            broker_id=lifecycle.broker_id,
            directory_ids=components.logs.directory_ids(),
            on_fenced=self._fenced,
        )
        await fence.start()
        self._undo.callback(fence.stop)
        return Registration(
            components.coordinator,
            BrokerInfo(
                id=lifecycle.broker_id,
                rack=self.config.get_str("broker.rack") or None,
                listeners={
                    name: Endpoint(host, port, protocol)
                    for name, host, port, protocol in self._listeners.advertised()
                },
            ),
            clock=self._environment.clock,
            files=self._environment.files,
            process_id=self._environment.process_id,
            log_dir=self.config.log_dirs[0],
            session_timeout_ms=self.config.get_int("zookeeper.session.timeout.ms"),
            on_registered=registered,
            check=fence.check,
            protocol=self.config.get_str(PROTOCOL_KEY),
        )

    def _fenced(self, why: str) -> None:
        self.failure = why
        self._on_fatal()

    def _start_chores(self, components: Components, housekeeping: Housekeeping) -> None:
        start_broker_chores(
            housekeeping,
            components.logs,
            components.replica_manager,
            self._environment.clock,
            self.config,
        )
        housekeeping.every(1_000, "receive buffers", self._listeners.relieve)
        housekeeping.every(SWEEP_MS, "idle connections", self._listeners.sweep)
        housekeeping.every(AUDIT_MS, "audit log", components.handlers.audit.flush)
        housekeeping.every(TLS_FILES_MS, "certificates", self._listeners.follow_tls_files)

    async def _hand_over(self, components: Components) -> None:
        """Ask the controller to lead elsewhere what this broker leads (ControlledShutdown)."""
        from dataplane.compose.controlled_shutdown import hand_over

        if self.config.get_bool("controlled.shutdown.enable"):
            await hand_over(
                components.controller_client,
                components.metadata_cache,
                components.lifecycle,
                components.configs.broker_config,
            )

    def _config_changed(self, components: Components, entity_type: str, name: str) -> None:
        replica_manager, logs = components.replica_manager, components.logs
        if entity_type == "topics":
            replica_manager.topic_config_changed(name)
        elif entity_type == "brokers":
            apply_dynamic(logs, components.configs.broker_config)
            self._listeners.follow_tls_files(components.configs.broker_config)
            self._listeners.limit_connections(components.configs.broker_config)
            # Broker settings are the defaults of every topic.
            for topic in {tp.topic for tp in logs.all()}:
                replica_manager.topic_config_changed(topic)

    def _directory_failed(
        self, components: Components, directory: str, lost: list[TopicPartition]
    ) -> None:
        """Replicas in a failed directory are gone; without any directory there is no broker."""
        components.replica_manager.lose(lost)
        if all(report.error for report in components.logs.directories()):
            self.failure = f"every log directory has failed, {directory} last"
            _log.critical(self.failure)
            self._on_fatal()
            return
        self._report = asyncio.get_running_loop().create_task(
            report_failure(components.coordinator, components.lifecycle.broker_id)
        )


def start_broker_chores(
    housekeeping: Housekeeping,
    logs: LogManager,
    replica_manager: ReplicaManager,
    clock: Clock,
    config: BrokerConfig,
) -> None:
    """What is due by the clock for logs and replicas; moves between directories go on."""
    housekeeping.every(1_000, "log upkeep", lambda: logs.tick(clock.realtime_ms()))
    housekeeping.every(
        max(1, config.get_int("replica.lag.time.max.ms") // LOOKS_PER_LAG_TIME),
        "in-sync check",
        replica_manager.tick_isr,
    )
    housekeeping.every(1_000, "owed roles", replica_manager.take_up_owed_roles)
    housekeeping.every(1_000, "full disks", replica_manager.give_up_full_disks)
    replica_manager.alter_log_dirs.resume()


async def _wait_for_image(metadata_cache: MetadataCache, broker_id: int) -> None:
    """Serving begins when the controller's metadata holds this broker."""
    known = asyncio.Event()

    def look(_before: ClusterImage, after: ClusterImage) -> None:
        if broker_id in after.brokers:
            known.set()

    metadata_cache.on_change(look)
    look(metadata_cache.image, metadata_cache.image)
    try:
        async with asyncio.timeout(IMAGE_TIMEOUT_S):
            await known.wait()
    except TimeoutError:
        raise StartError("no controller has sent this broker the cluster's metadata") from None


def _close_logs(
    logs: LogManager, background: ClosableBackground, lifecycle: BrokerLifecycle
) -> None:
    logs.cleaner.stop()
    background.close()
    try:
        logs.shutdown(lifecycle.broker_epoch)
    except OSError:
        _log.exception("the logs are not closed cleanly; they are checked at the next start")


def _credentials(config: BrokerConfig) -> PeerCredentials | None:
    """`sasl.mechanism.inter.broker.protocol` if it is set, else the first SCRAM of the listener."""
    listener, key = config.inter_broker_listener, "sasl.mechanism.inter.broker.protocol"
    username = config.get_str("penstock.inter.broker.username")
    if not username:
        return None
    if config.is_set(key):
        mechanism = config.get_str(key)
        if mechanism not in (PLAIN, *SCRAM):
            raise ConfigError(key, mechanism, f"must be one of {', '.join((PLAIN, *SCRAM))}")
    else:
        enabled = enabled_mechanisms(config, listener)
        mechanism = next((name for name in enabled if name in SCRAM), SCRAM[0])
    return PeerCredentials(username, config.get_str("penstock.inter.broker.password"), mechanism)
