"""kafka-configs for every kind of resource, kafka-acls."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.conformance.conftest import PASSWORDS
from tests.conformance.java_tools import ClusterTools
from tests.local_cluster import eventually

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]
CONFIGS, ACLS = "kafka-configs", "kafka-acls"


def shown(tool: ClusterTools, *entity: str) -> dict[str, str]:
    """Key to value, of what kafka-configs prints."""
    out = tool(CONFIGS, "--describe", *entity).ok()
    return dict(re.findall(r"^  ([\w.\-]+)=(.*?) sensitive=", out, re.MULTILINE))


def test_topics(tool: ClusterTools, topic: str) -> None:
    tool("kafka-topics", "--create", "--topic", topic, "--config", "retention.ms=9").ok()
    entity = ("--entity-type", "topics", "--entity-name", topic)
    change = "max.message.bytes=2000,cleanup.policy=[compact,delete]"
    tool(CONFIGS, "--alter", *entity, "--add-config", change).ok()
    assert shown(tool, *entity) == {
        "retention.ms": "9",
        "max.message.bytes": "2000",
        "cleanup.policy": "compact,delete",
    }
    tool(CONFIGS, "--alter", *entity, "--delete-config", "retention.ms,max.message.bytes").ok()
    assert shown(tool, *entity) == {"cleanup.policy": "compact,delete"}
    everything = shown(tool, *entity, "--all")
    assert everything["retention.ms"] == "604800000"
    assert len(everything) > 30
    for wrong in ("nonsense=1", "retention.ms=soon", "cleanup.policy=burn"):
        refused = tool(CONFIGS, "--alter", *entity, "--add-config", wrong)
        refused.refused("InvalidConfigurationException")
    unknown = ("--entity-type", "topics", "--entity-name", "never-made")
    assert tool(CONFIGS, "--describe", *unknown).status == 1
    assert shown(tool, *entity) == {"cleanup.policy": "compact,delete"}


def test_brokers(tool: ClusterTools) -> None:
    one = ("--entity-type", "brokers", "--entity-name", "1")
    default = ("--entity-type", "brokers", "--entity-default")
    tool(CONFIGS, "--alter", *one, "--add-config", "log.cleaner.threads=2").ok()
    tool(CONFIGS, "--alter", *default, "--add-config", "log.retention.ms=700000").ok()
    try:
        assert shown(tool, *one) == {"log.cleaner.threads": "2"}, "its own alone"
        assert shown(tool, *one, "--all")["log.retention.ms"] == "700000"
        assert shown(tool, *default) == {"log.retention.ms": "700000"}
        out = tool(CONFIGS, "--describe", *one).ok()
        assert (
            "DYNAMIC_BROKER_CONFIG:log.cleaner.threads=2, DEFAULT_CONFIG:log.cleaner.threads=1"
            in out
        )
    finally:
        tool(CONFIGS, "--alter", *one, "--delete-config", "log.cleaner.threads").ok()
        tool(CONFIGS, "--alter", *default, "--delete-config", "log.retention.ms").ok()
    assert shown(tool, *one) == {}
    fixed = tool(CONFIGS, "--alter", *one, "--add-config", "broker.id=5")
    fixed.refused("Exception")
    assert len(shown(tool, *one, "--all")) > 150


def test_users_with_scram(tool: ClusterTools, offered: Callable[..., None]) -> None:
    entity = ("--entity-type", "users", "--entity-name", "alice")
    both = "SCRAM-SHA-256=[iterations=8192,password=pw],SCRAM-SHA-512=[password=pw]"
    assert "Completed" in tool(CONFIGS, "--alter", *entity, "--add-config", both).ok()
    absent = tool(CONFIGS, "--alter", *entity, "--delete-config", "SCRAM-SHA-512,SCRAM-SHA-256")
    assert "Completed" in absent.ok()
    offered("DescribeClientQuotas")
    tool(CONFIGS, "--alter", *entity, "--add-config", "SCRAM-SHA-256=[password=pw]").ok()
    out = tool(CONFIGS, "--describe", *entity).ok()
    assert (
        "SCRAM credential configs for user-principal 'alice' are SCRAM-SHA-256=iterations=4096"
        in out
    )
    tool(CONFIGS, "--alter", *entity, "--delete-config", "SCRAM-SHA-256").ok()


def test_client_quotas(tool: ClusterTools, offered: Callable[..., None]) -> None:
    offered("DescribeClientQuotas", "AlterClientQuotas")
    entity = ("--entity-type", "clients", "--entity-name", "heavy")
    tool(CONFIGS, "--alter", *entity, "--add-config", "producer_byte_rate=1024").ok()
    out = tool(CONFIGS, "--describe", *entity).ok()
    assert "Quota configs for client-id 'heavy' are producer_byte_rate=1024.0" in out
    tool(CONFIGS, "--alter", *entity, "--delete-config", "producer_byte_rate").ok()
    assert "producer_byte_rate" not in tool(CONFIGS, "--describe", *entity).ok()
    for kind in ("users", "clients", "ips"):
        tool(CONFIGS, "--describe", "--entity-type", kind).ok()


# -- ACLs


@pytest.fixture
def admin(sasl_tool: Callable[[str], ClusterTools]) -> ClusterTools:
    return sasl_tool("admin")


@pytest.fixture
def user(admin: ClusterTools, sasl_tool: Callable[[str], ClusterTools], topic: str) -> str:
    """One who may do nothing yet; as whom the tools can be run."""
    name = f"user-{topic}"
    PASSWORDS[name] = "user-secret"
    entity = ("--entity-type", "users", "--entity-name", name)
    admin(CONFIGS, "--alter", *entity, "--add-config", "SCRAM-SHA-256=[password=user-secret]").ok()
    for _ in eventually(10, "the credential has reached every broker"):
        if sasl_tool(name)("kafka-broker-api-versions").status == 0:
            break
    return name


def acls(tool: ClusterTools, *options: str) -> set[tuple[str, str, str]]:
    out = tool(ACLS, "--list", *options).ok()
    rows = re.findall(r"principal=(\S+), host=\S+, operation=(\w+), permissionType=(\w+)", out)
    return {(who, what, how) for who, what, how in rows}


def test_acls_are_added_listed_and_removed(admin: ClusterTools, user: str, topic: str) -> None:
    who = f"User:{user}"
    resource = ("--topic", topic)
    add = [ACLS, "--add", "--allow-principal", who]
    admin(*add, "--producer", *resource).ok()
    assert acls(admin, *resource) == {
        (who, operation, "ALLOW") for operation in ("WRITE", "DESCRIBE", "CREATE")
    }
    admin(*add, "--consumer", *resource, "--group", "g").ok()
    assert (who, "READ", "ALLOW") in acls(admin, *resource)
    assert acls(admin, "--group", "g") >= {(who, "READ", "ALLOW")}
    prefixed = ("--topic", "pre-", "--resource-pattern-type", "prefixed")
    admin(ACLS, "--add", "--deny-principal", who, "--operation", "Delete", *prefixed).ok()
    match = ("--topic", "pre-fix", "--resource-pattern-type", "match")
    assert (who, "DELETE", "DENY") in acls(admin, *match)
    of_user = acls(admin, "--principal", who)
    assert (who, "DELETE", "DENY") in of_user
    admin(ACLS, "--remove", "--force", *prefixed).ok()
    assert acls(admin, *prefixed) == set()
    admin(
        ACLS, "--remove", "--force", "--allow-principal", who, "--operation", "Write", *resource
    ).ok()
    assert (who, "WRITE", "ALLOW") not in acls(admin, *resource)
    admin(ACLS, "--remove", "--force", *resource).ok()
    admin(ACLS, "--remove", "--force", "--group", "g").ok()
    assert acls(admin, *resource) == set()


def test_a_user_may_do_what_is_allowed_and_nothing_else(
    admin: ClusterTools, sasl_tool: Callable[[str], ClusterTools], user: str, topic: str
) -> None:
    mine = sasl_tool(user)
    assert topic not in mine("kafka-topics", "--list").ok()
    mine("kafka-topics", "--create", "--topic", topic).refused("uthorization failed")
    admin("kafka-topics", "--create", "--topic", topic).ok()
    assert topic not in mine("kafka-topics", "--list").ok(), "hidden"
    allow = [ACLS, "--add", "--allow-principal", f"User:{user}", "--topic", topic]
    admin(*allow, "--operation", "Describe").ok()
    for _ in eventually(10, "the rule has reached every broker"):
        if topic in mine("kafka-topics", "--list").ok():
            break
    mine("kafka-topics", "--delete", "--topic", topic).refused("uthorization failed")
    mine(ACLS, "--list").refused("ClusterAuthorizationException")
    mine(CONFIGS, "--describe", "--entity-type", "topics", "--entity-name", topic).refused(
        "TopicAuthorizationException"
    )
    admin(*allow, "--operation", "Delete").ok()
    for _ in eventually(10, "the rule has reached every broker"):
        if mine("kafka-topics", "--delete", "--topic", topic).status == 0:
            break


def test_a_wrong_password_and_an_unknown_user_are_told_the_same(
    sasl_tool: Callable[[str], ClusterTools], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []
    for name in ("peer", "nobody"):
        monkeypatch.setitem(PASSWORDS, name, "wrong")
        ran = sasl_tool(name)("kafka-topics", "--list")
        ran.refused("Authentication failed")
        said.append(ran.out + ran.err)
    assert said[0] == said[1]
