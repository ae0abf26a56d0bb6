"""Opens the log directories of a broker: lock, recovery, identity."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from typing import TYPE_CHECKING

from dataplane.compose.alert_gauges import register_disks
from dataplane.compose.gauges import register_storage
from dataplane.config import ConfigError
from dataplane.log.cleaner.driver import CleanerSettings
from dataplane.log.config import LogConfig
from dataplane.log.manager.log_directory import DirectoryInUseError, InconsistentIdentityError
from dataplane.log.manager.log_manager import LogManager, LogManagerSettings
from dataplane.model.errors import KafkaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataplane.broker.broker_lifecycle import BrokerLifecycle
    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metrics import Metrics
    from dataplane.compose.environment import Environment
    from dataplane.config import BrokerConfig
    from dataplane.ports.background import Background
    from dataplane.ports.filesystem import FileSystem


class StorageError(Exception):
    """The log directories cannot be used; the message says which and why."""


def broker_id(config: BrokerConfig) -> int:
    """The configured id. ConfigError when there is none: ids are not drawn here."""
    if config.broker_id < 0:
        raise ConfigError("broker.id", config.broker_id, "must be at least 0")
    return config.broker_id


async def open_logs(
    configs: ConfigStore,
    lifecycle: BrokerLifecycle,
    metrics: Metrics,
    environment: Environment,
    background: Background,
) -> LogManager:
    """Load every log. ConfigError or StorageError in one line when a directory is unfit."""
    config = configs.broker_config
    _make_directories(config, environment.files)

    def config_for(topic: str) -> LogConfig:
        return LogConfig.from_topic_config(configs.topic_config(topic))

    logs = LogManager(
        environment.files,
        environment.clock,
        environment.entropy,
        background,
        log_dirs=config.log_dirs,
        broker_id=lifecycle.broker_id,
        config_for=config_for,
        settings=_settings(config),
        pacer=environment.pacer,
    )
    apply_dynamic(logs, config)
    register_storage(metrics, logs)
    register_disks(metrics, logs)
    try:
        # Recovery may read gigabytes; nothing else touches the logs before it ends.
        with _no_collection():
            await asyncio.to_thread(logs.load)
        logs.stamp_identity(lifecycle.cluster_id)
    except (DirectoryInUseError, InconsistentIdentityError, KafkaError) as error:
        raise StorageError(f"log.dirs: {error}") from error
    return logs


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Thousands of logs are made that all stay: looking for garbage among them took a third."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def apply_dynamic(logs: LogManager, config: BrokerConfig) -> None:
    """Settings of storage that may change while the broker runs."""
    logs.cleaner.settings = CleanerSettings(
        is_enabled=config.get_bool("log.cleaner.enable")
        and config.get_int("log.cleaner.threads") > 0,
        memory_bytes=config.get_int("log.cleaner.dedupe.buffer.size"),
        load_factor=config.get_float("log.cleaner.io.buffer.load.factor"),
        io_buffer_bytes=config.get_int("log.cleaner.io.buffer.size"),
        backoff_ms=config.get_int("log.cleaner.backoff.ms"),
    )
    if logs.cleaner.pacer is not None:
        logs.cleaner.pacer.set_pace(
            share=config.get_float("penstock.log.cleaner.share"),
            bytes_per_second=config.get_float("log.cleaner.io.max.bytes.per.second"),
        )


def _make_directories(config: BrokerConfig, files: FileSystem) -> None:
    """One that cannot be made is the log manager's to set aside, unless it is the only one."""
    for directory in config.log_dirs:
        try:
            files.make_dirs(directory)
        except OSError as error:
            if len(config.log_dirs) == 1:
                raise ConfigError("log.dirs", directory, error.strerror or str(error)) from error


def _settings(config: BrokerConfig) -> LogManagerSettings:
    return LogManagerSettings(
        retention_check_interval_ms=config.get_int("log.retention.check.interval.ms"),
        high_watermark_checkpoint_interval_ms=config.get_int(
            "replica.high.watermark.checkpoint.interval.ms"
        ),
        offset_checkpoint_interval_ms=config.get_int("log.flush.offset.checkpoint.interval.ms"),
        producer_expiration_ms=config.get_int("producer.id.expiration.ms"),
        file_delete_delay_ms=config.get_int("log.segment.delete.delay.ms"),
        recovery_threads=config.get_int("num.recovery.threads.per.data.dir"),
    )
