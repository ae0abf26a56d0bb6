"""Who may set which key: nothing is a tenant's by accident."""

from __future__ import annotations

import dataclasses
import pathlib
import re

import pytest

from dataplane.config import (
    BROKER_CONFIGS,
    TOPIC_CONFIGS,
    TOPIC_SYNONYMS,
    ConfigError,
    ConfigKey,
    ConfigType,
    Scope,
)
from dataplane.config.document import keys_document

NEVER_A_TENANTS = re.compile(
    r"(broker|node)\.id|reserved\.broker|broker\.rack|log\.dirs?$|listener|zookeeper|security\.|ssl\."
    r"|sasl\.|super\.users|authorizer|allow\.everyone|principal|delegation|policy\.class|metric\.reporters"
    r"|^penstock\.(inter|bootstrap|metrics|tenant)|throttled\.replicas|connections\.max\.reauth"
)
"""Identity, paths, listeners, ZooKeeper, security, super users, code that is loaded by name."""
SHARED = re.compile(
    r"threads|buffer|socket|max\.connections|queued|purgatory|dedupe|io\.max|throttled\.rate"
)
"""Memory, threads and sockets of a host that several tenants share."""
FREE_TYPES = (ConfigType.STRING, ConfigType.LIST, ConfigType.CLASS, ConfigType.PASSWORD)
ALL = [*BROKER_CONFIGS.values(), *TOPIC_CONFIGS.values()]
TENANTS = [key for key in ALL if key.scope is Scope.TENANT]
DOCUMENT = pathlib.Path(__file__).parents[3] / "dataplane" / "config" / "KEYS.md"


def test_a_key_without_a_scope_is_not_a_tenants() -> None:
    assert ConfigKey("x", ConfigType.INT, 0, "").scope is Scope.OPERATOR


def test_identity_paths_and_security_are_internal() -> None:
    found = [key for key in ALL if NEVER_A_TENANTS.search(key.name)]
    assert len(found) > 50
    assert {key.name: key.scope for key in found} == {key.name: Scope.INTERNAL for key in found}


def test_what_hosts_share_is_not_a_tenants() -> None:
    found = [key for key in ALL if SHARED.search(key.name)]
    assert len(found) > 15
    assert not [key.name for key in found if key.scope is Scope.TENANT]


def test_a_tenants_text_is_from_a_list_or_has_a_form() -> None:
    texts = [key for key in TENANTS if key.type in FREE_TYPES]
    assert len(texts) > 5
    assert not [key.name for key in texts if not (key.choices or key.check)]


@pytest.mark.parametrize("key", TENANTS, ids=lambda key: key.name)
def test_the_default_is_within_a_tenants_bounds(key: ConfigKey) -> None:
    text = key.format(key.default)
    if text is not None:
        assert key.for_tenant().parse(text) == key.default


@pytest.mark.parametrize("key", TENANTS, ids=lambda key: key.name)
def test_a_tenants_bounds_are_never_wider(key: ConfigKey) -> None:
    (low, high), (tenant_low, tenant_high) = key.bounds, key.for_tenant().bounds
    assert low <= tenant_low <= tenant_high <= high


def test_bounds_of_a_tenant_hold() -> None:
    key = dataclasses.replace(BROKER_CONFIGS["min.insync.replicas"]).for_tenant()
    assert key.parse("30") == 30
    for text in ("banana", "-1", "0", "31", "99999999999", ""):
        with pytest.raises(ConfigError, match="at least 1 and at most 30"):
            key.parse(text)


@pytest.mark.parametrize("name", ["log.dirs", "super.users", "background.threads"])
def test_what_is_not_a_tenants_has_no_bounds_for_tenants(name: str) -> None:
    with pytest.raises(ConfigError, match="not a tenant's"):
        BROKER_CONFIGS[name].for_tenant()


def test_what_a_tenant_may_set_on_one_topic_may_be_set_for_all() -> None:
    """Except the pace of the scheduler, at which a host would spin."""
    differing = {
        broker_key
        for name, synonyms in TOPIC_SYNONYMS.items()
        for broker_key, _ in synonyms
        if BROKER_CONFIGS[broker_key].scope is not TOPIC_CONFIGS[name].scope
    }
    assert differing == {"log.flush.scheduler.interval.ms"}


@pytest.mark.parametrize("version", ["0.8.2", "3.0", "3.0-IV1", "0.10.2-IV0"])
def test_format_versions_are_versions(version: str) -> None:
    key = TOPIC_CONFIGS["message.format.version"]
    assert key.parse(version) == version
    for junk in (f"{version}\nlog.dirs=/x", "x", "", "3", f"{version}\u2028a=b"):
        with pytest.raises(ConfigError, match="a version of Kafka"):
            key.parse(junk)


def test_the_document_is_fresh() -> None:
    """`python -m dataplane.config.document > dataplane/config/KEYS.md` makes it."""
    assert DOCUMENT.read_text() == keys_document()


def test_the_document_names_every_key_once() -> None:
    rows = re.findall(r"^\| `([^`]+)` \|", keys_document(), re.MULTILINE)
    assert sorted(rows) == sorted(key.name for key in ALL)
