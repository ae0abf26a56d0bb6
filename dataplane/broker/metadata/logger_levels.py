"""Levels of this process's loggers, read and changed while it runs (KIP-412).

Python's loggers under Kafka's level names. A change lasts until the process ends, as in Kafka.
Loggers of libraries are left out: at their lowest levels some of them log what they send, logins
included.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from dataplane.cluster.config_changes import Operation
from dataplane.cluster.config_entries import ConfigEntry, ConfigSource
from dataplane.config import ConfigKey, ConfigType
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from dataplane.cluster.config_changes import Change

ROOT: Final = "root"
LEVELS: Final = {
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
    "OFF": logging.CRITICAL + 10,
}
"""Kafka's levels, the finest first, as numbers of Python's."""
_OWN: Final = ("dataplane", "zookeeper_access")


def described(wanted: Container[str] | None) -> list[ConfigEntry]:
    """Every logger with the level in force; `wanted` None asks for all."""
    return [
        ConfigEntry(
            ConfigKey(name, ConfigType.UNKNOWN, None, ""),
            _level_name(logger.getEffectiveLevel()),
            ConfigSource.DYNAMIC_BROKER_LOGGER,
            read_only=False,
            synonyms=(),
        )
        for name, logger in sorted(_loggers().items())
        if wanted is None or name in wanted
    ]


def alter(changes: Sequence[Change], *, validate_only: bool) -> None:
    """Set levels, or have loggers follow the root's again: all of the changes or none.

    Raises KafkaError: INVALID_CONFIG for an unknown logger or level, INVALID_REQUEST for what
    cannot be done to a logger.
    """
    loggers = _loggers()
    levels = [_new_level(change, loggers) for change in changes]
    if not validate_only:
        for change, level in zip(changes, levels, strict=True):
            loggers[change.name].setLevel(level)


def _new_level(change: Change, loggers: Container[str]) -> int:
    if change.operation not in (Operation.SET, Operation.DELETE):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"{change.operation.name} operation is not allowed for the BROKER_LOGGER resource",
        )
    if change.name not in loggers:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Logger {change.name} does not exist!")
    if change.operation is Operation.DELETE:
        if change.name == ROOT:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                "Removing the log level of the root logger is not allowed",
            )
        return logging.NOTSET
    level = LEVELS.get(change.value or "")
    if level is None:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"Cannot set the log level of {change.name} to {change.value}: "
            f"valid levels are {', '.join(LEVELS)}",
        )
    return level


def _loggers() -> dict[str, logging.Logger]:
    """The loggers that there are by now, a parent also where only its children log."""
    root = logging.getLogger()
    names = {name for name in root.manager.loggerDict if name.partition(".")[0] in _OWN}
    return {ROOT: root, **{name: logging.getLogger(name) for name in names}}


def _level_name(level: int) -> str:
    """The coarsest of Kafka's levels that lets through all that `level` does."""
    names = [name for name, number in LEVELS.items() if number <= level]
    return names[-1] if names else "TRACE"
