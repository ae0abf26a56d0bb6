"""Short hands for declaring keys."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dataplane.config.key import INT_MAX, LONG_MAX, ConfigKey, ConfigType, Dynamic

if TYPE_CHECKING:
    from dataplane.config.key import Value

CLUSTER = Dynamic.CLUSTER_WIDE
PER_BROKER = Dynamic.PER_BROKER
READ_ONLY = Dynamic.READ_ONLY
MAX_INT = INT_MAX
MAX_LONG = LONG_MAX
_HOUR_MS = 3_600_000
DAY_MS = 24 * _HOUR_MS
MIB = 1024 * 1024


def flag(name: str, default: bool, doc: str, *, dynamic: Dynamic = READ_ONLY) -> ConfigKey:
    return ConfigKey(name, ConfigType.BOOLEAN, default, doc, dynamic=dynamic)


def number(
    name: str,
    default: int | None,
    doc: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    dynamic: Dynamic = READ_ONLY,
) -> ConfigKey:
    return ConfigKey(
        name, ConfigType.INT, default, doc, lowest=least, highest=most, dynamic=dynamic
    )


def long(
    name: str,
    default: int | None,
    doc: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    dynamic: Dynamic = READ_ONLY,
) -> ConfigKey:
    return ConfigKey(
        name, ConfigType.LONG, default, doc, lowest=least, highest=most, dynamic=dynamic
    )


def ratio(
    name: str, default: float, doc: str, *, most: float = 1.0, dynamic: Dynamic = READ_ONLY
) -> ConfigKey:
    return ConfigKey(
        name, ConfigType.DOUBLE, default, doc, lowest=0.0, highest=most, dynamic=dynamic
    )


def text(
    name: str,
    default: str | None,
    doc: str,
    *,
    choices: tuple[str, ...] = (),
    dynamic: Dynamic = READ_ONLY,
) -> ConfigKey:
    return ConfigKey(name, ConfigType.STRING, default, doc, choices=choices, dynamic=dynamic)


def names(
    name: str,
    default: Value,
    doc: str,
    *,
    choices: tuple[str, ...] = (),
    dynamic: Dynamic = READ_ONLY,
) -> ConfigKey:
    return ConfigKey(name, ConfigType.LIST, default, doc, choices=choices, dynamic=dynamic)


def class_name(name: str, default: str | None, doc: str) -> ConfigKey:
    return ConfigKey(name, ConfigType.CLASS, default, doc)


def secret(name: str, doc: str, *, dynamic: Dynamic = PER_BROKER) -> ConfigKey:
    return ConfigKey(name, ConfigType.PASSWORD, None, doc, dynamic=dynamic)
