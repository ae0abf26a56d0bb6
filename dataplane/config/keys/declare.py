"""Short hands for declaring keys."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from dataplane.config.key import (
    INT_MAX,
    LONG_MAX,
    WITHOUT_EFFECT,
    ConfigKey,
    ConfigType,
    Dynamic,
    Scope,
)

if TYPE_CHECKING:
    from dataplane.config.key import Value

CLUSTER = Dynamic.CLUSTER_WIDE
PER_BROKER = Dynamic.PER_BROKER
READ_ONLY = Dynamic.READ_ONLY
TENANT = Scope.TENANT
OPERATOR = Scope.OPERATOR
INTERNAL = Scope.INTERNAL
MAX_INT = INT_MAX
MAX_LONG = LONG_MAX
_HOUR_MS = 3_600_000
DAY_MS = 24 * _HOUR_MS
MIB = 1024 * 1024


def must_stay_unset(value: Value) -> None:
    """The check of a key that would do harm if it were accepted and not obeyed."""
    if value:
        raise ValueError("not supported; must stay unset")


def hidden(key: ConfigKey) -> ConfigKey:
    """The key as one that Kafka calls internal: described only where it is set."""
    return dataclasses.replace(key, is_internal=True)


def scoped(scope: Scope, *keys: ConfigKey) -> tuple[ConfigKey, ...]:
    """The keys, each in this scope."""
    return tuple(dataclasses.replace(key, scope=scope) for key in keys)


def flag(
    name: str,
    default: bool,
    doc: str,
    *,
    dynamic: Dynamic = READ_ONLY,
    scope: Scope = OPERATOR,
) -> ConfigKey:
    return ConfigKey(name, ConfigType.BOOLEAN, default, doc, dynamic=dynamic, scope=scope)


def number(
    name: str,
    default: int | None,
    doc: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    dynamic: Dynamic = READ_ONLY,
    scope: Scope = OPERATOR,
    tenant_least: float = -math.inf,
    tenant_most: float = math.inf,
) -> ConfigKey:
    """An INT. The tenant's bounds narrow the broker's own."""
    return ConfigKey(
        name,
        ConfigType.INT,
        default,
        doc,
        lowest=least,
        highest=most,
        dynamic=dynamic,
        scope=scope,
        tenant_lowest=tenant_least,
        tenant_highest=tenant_most,
    )


def long(
    name: str,
    default: int | None,
    doc: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    dynamic: Dynamic = READ_ONLY,
    scope: Scope = OPERATOR,
    tenant_least: float = -math.inf,
    tenant_most: float = math.inf,
) -> ConfigKey:
    """A LONG. The tenant's bounds narrow the broker's own."""
    return dataclasses.replace(
        number(
            name,
            default,
            doc,
            least=least,
            most=most,
            dynamic=dynamic,
            scope=scope,
            tenant_least=tenant_least,
            tenant_most=tenant_most,
        ),
        type=ConfigType.LONG,
    )


def short(
    name: str,
    default: int,
    doc: str,
    *,
    least: float = -math.inf,
    scope: Scope = OPERATOR,
    tenant_most: float = math.inf,
) -> ConfigKey:
    """A SHORT. The tenant's bound narrows the broker's own."""
    return dataclasses.replace(
        number(name, default, doc, least=least, scope=scope, tenant_most=tenant_most),
        type=ConfigType.SHORT,
    )


def ratio(
    name: str,
    default: float,
    doc: str,
    *,
    most: float = 1.0,
    dynamic: Dynamic = READ_ONLY,
    scope: Scope = OPERATOR,
) -> ConfigKey:
    return ConfigKey(
        name,
        ConfigType.DOUBLE,
        default,
        doc,
        lowest=0.0,
        highest=most,
        dynamic=dynamic,
        scope=scope,
    )


def text(
    name: str,
    default: str | None,
    doc: str,
    *,
    choices: tuple[str, ...] = (),
    dynamic: Dynamic = READ_ONLY,
    scope: Scope = OPERATOR,
) -> ConfigKey:
    return ConfigKey(
        name, ConfigType.STRING, default, doc, choices=choices, dynamic=dynamic, scope=scope
    )


def names(
    name: str,
    default: Value,
    doc: str,
    *,
    choices: tuple[str, ...] = (),
    dynamic: Dynamic = READ_ONLY,
    scope: Scope = OPERATOR,
) -> ConfigKey:
    return ConfigKey(
        name, ConfigType.LIST, default, doc, choices=choices, dynamic=dynamic, scope=scope
    )


def class_name(name: str, default: str | None, doc: str, *, scope: Scope = OPERATOR) -> ConfigKey:
    return ConfigKey(name, ConfigType.CLASS, default, doc, scope=scope)


def unsupported_class(name: str) -> ConfigKey:
    """A class of Java's that would decide something, were it there: set, it is refused."""
    return ConfigKey(
        name,
        ConfigType.CLASS,
        None,
        f"{WITHOUT_EFFECT}classes of Java are not loaded; it must stay unset.",
        check=must_stay_unset,
        scope=INTERNAL,
    )


def secret(name: str, doc: str, *, dynamic: Dynamic = PER_BROKER) -> ConfigKey:
    """Never a tenant's, nor anybody's but Penstock's."""
    return ConfigKey(name, ConfigType.PASSWORD, None, doc, dynamic=dynamic, scope=INTERNAL)
