"""Opens the log directories of a broker: lock, recovery, identity."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dataplane.config import ConfigError
from dataplane.log.config import LogConfig
from dataplane.log.directory import DirectoryInUseError, InconsistentIdentityError
from dataplane.log.manager import LogManager, LogManagerSettings
from dataplane.model.errors import KafkaError

if TYPE_CHECKING:
    from dataplane.broker.services import BrokerServices
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
    services: BrokerServices, files: FileSystem, background: Background
) -> LogManager:
    """Load every log. ConfigError or StorageError in one line when a directory is unfit."""
    config = services.config
    _make_directories(config, files)

    def config_for(topic: str) -> LogConfig:
        return LogConfig.from_topic_config(services.configs.topic_config(topic))

    logs = LogManager(
        files,
        services.clock,
        services.entropy,
        background,
        log_dirs=config.log_dirs,
        broker_id=services.broker_id,
        config_for=config_for,
        settings=_settings(config),
    )
    try:
        # Recovery may read gigabytes; nothing else touches the logs before it ends.
        await asyncio.to_thread(logs.load)
        logs.stamp_identity(services.cluster_id)
    except (DirectoryInUseError, InconsistentIdentityError, KafkaError) as error:
        raise StorageError(f"log.dirs: {error}") from error
    return logs


def _make_directories(config: BrokerConfig, files: FileSystem) -> None:
    for directory in config.log_dirs:
        try:
            files.make_dirs(directory)
        except OSError as error:
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
    )
