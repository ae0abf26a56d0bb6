"""The one access to the brokers' own table of configuration keys, and to properties files. Pure.

`dataplane.config` declares what Kafka's keys are, their types and bounds, and who may set them. It
is the only thing of the data plane that the control plane imports, and only here.
"""

import difflib
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from controlplane.common.problems import Invalid, pointer_of
from dataplane.config import (
    BROKER_CONFIGS,
    TOPIC_CONFIGS,
    TOPIC_SYNONYMS,
    BrokerConfig,
    ConfigError,
    ConfigKey,
    Dynamic,
    Scope,
    TopicConfig,
    changes_between,
    format_properties,
    protocol_rank,
)

__all__ = [
    "BrokerConfig",
    "TopicConfig",
    "allowed_broker_values",
    "changes_between",
    "check_broker_settings",
    "check_topic_settings",
    "format_properties",
    "is_dynamic",
    "is_tenants",
    "is_topic_setting",
    "protocol_rank",
    "resolved_broker",
    "topic_setting_table",
]

ERRORS_MAX = 20
SHOWN_MAX = 80
"""Characters of a key or a value that a refusal repeats."""
_WHO = {
    Scope.INTERNAL: "Penstock sets it itself",
    Scope.OPERATOR: "it concerns hosts that several tenants share",
}
Error = dict[str, str]


def is_tenants(key: str) -> bool:
    """Whether a tenant may set this broker key."""
    return key in _tenants(BROKER_CONFIGS)


def is_dynamic(key: str) -> bool:
    """Whether brokers take this key while they run, as a default of all of them."""
    known = BROKER_CONFIGS.get(key)
    return known is not None and known.dynamic is Dynamic.CLUSTER_WIDE


def check_broker_settings(settings: Mapping[str, str | None], *path: str) -> None:
    """Every broker key is a tenant's and its value within a tenant's bounds.

    Args:
        settings: what a tenant asks for, as text.
        path: where the settings stand in the request, for the pointers.

    Raises:
        Invalid: names every refused key by pointer, with value and allowed range or list.
    """
    _check(BROKER_CONFIGS, settings, path, "a broker")


def check_topic_settings(settings: Mapping[str, str | None], *path: str) -> None:
    """The same for topic keys; None puts a key back to its default."""
    _check(TOPIC_CONFIGS, settings, path, "a topic")


def is_topic_setting(key: str) -> bool:
    """Whether Kafka has a topic setting of this name."""
    return key in TOPIC_CONFIGS


def allowed_broker_values() -> dict[str, str]:
    """What a tenant may set on brokers: key → allowed values in words."""
    return {name: BROKER_CONFIGS[name].for_tenant().allowed for name in _tenants(BROKER_CONFIGS)}


def topic_setting_table() -> dict[str, dict[str, Any]]:
    """What a tenant may set on topics, with what a form needs to know of each.

    Numbers are text: 64 bits are more than a browser counts. Bounds are null where text is asked.
    """
    return {name: _described(TOPIC_CONFIGS[name].for_tenant()) for name in _tenants(TOPIC_CONFIGS)}


def _described(key: ConfigKey) -> dict[str, Any]:
    lowest, highest = key.bounds
    return {
        "type": key.type.name,
        "allowed": key.allowed,
        "lowest": str(int(lowest)) if isfinite(lowest) else None,
        "highest": str(int(highest)) if isfinite(highest) else None,
        "choices": list(key.choices),
        "doc": key.doc,
        "has_effect": key.has_effect,
    }


def resolved_broker(
    settings: Mapping[str, str], of_tenant: Iterable[str], *path: str
) -> tuple[BrokerConfig, TopicConfig]:
    """A whole broker's settings and what its topics have by default, checked against each other.

    Args:
        settings: all that the broker's file will say.
        of_tenant: the keys among them that a tenant chose.
        path: where those stand in the request.

    Raises:
        Invalid: settings that a broker would refuse to start with, or that no topic could have.
    """
    try:
        broker = BrokerConfig.parse(settings)
        return broker, TopicConfig.parse({}, broker)
    except ConfigError as error:
        chosen = set(of_tenant)
        synonyms = [error.key, *(name for name, _ in TOPIC_SYNONYMS.get(error.key, ()))]
        named = next((name for name in synonyms if name in chosen), None)
        detail = f"{named or error.key} does not fit the other settings: {error.reason}."
        pointer = pointer_of(*path, *([named] if named else []))
        raise _invalid([{"pointer": pointer, "code": "inconsistent", "detail": detail}]) from error


def _check(
    table: Mapping[str, ConfigKey],
    settings: Mapping[str, str | None],
    path: tuple[str, ...],
    of: str,
) -> None:
    errors: list[Error] = []
    is_key_refused = False
    for key, value in settings.items():
        known = table.get(key)
        if known is None:
            code, detail = "unknown", _unknown(table, key, of)
        elif known.scope is not Scope.TENANT:
            code, detail = "not-allowed", f"{key} is not a tenant's to set: {_WHO[known.scope]}."
        else:
            code, detail = "invalid", _refused(known.for_tenant(), value)
        if detail:
            is_key_refused |= code != "invalid"
            pointer = pointer_of(*path, _cut(key))
            errors.append({"pointer": pointer, "code": code, "detail": detail})
        if len(errors) == ERRORS_MAX:
            break
    if errors:
        raise _invalid(errors, **({"allowed_keys": _tenants(table)} if is_key_refused else {}))


def _refused(key: ConfigKey, value: str | None) -> str:
    """Why this value is not allowed; empty if it is. None, the default, always is."""
    if value is None:
        return ""
    try:
        key.parse(value)
    except ConfigError as error:
        return f"{key.name} is {_cut(ascii(value))}. {error.reason}."
    return ""


def _unknown(table: Mapping[str, ConfigKey], key: str, of: str) -> str:
    near = difflib.get_close_matches(_cut(key).strip().lower(), _tenants(table), n=1)
    hint = f" Did you mean {near[0]}? Case counts." if near else ""
    return f"{_cut(ascii(key))} is not a setting of {of}.{hint}"


def _tenants(table: Mapping[str, ConfigKey]) -> list[str]:
    return sorted(name for name, key in table.items() if key.scope is Scope.TENANT)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_MAX else text[:SHOWN_MAX] + "…"


def _invalid(errors: list[Error], **extra: Any) -> Invalid:
    return Invalid(" ".join(error["detail"] for error in errors[:3]), errors=errors, **extra)
