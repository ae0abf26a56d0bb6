"""ACLs lie in ZooKeeper as Kafka writes them."""

import json

import pytest

from dataplane.security.acl import (
    AclEntry,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from dataplane.security.acl_nodes import (
    STORED_TYPES,
    decode_change,
    decode_entries,
    encode_change,
    encode_entries,
    pattern_path,
)
from dataplane.security.principal import Principal, parse_super_users

ENTRY = AclEntry(Principal.user("alice"), "*", AclOperation.DESCRIBE_CONFIGS, Permission.ALLOW)


def test_paths():
    assert pattern_path(ResourcePattern.literal(ResourceType.TOPIC, "t")) == "/kafka-acl/Topic/t"
    assert (
        pattern_path(ResourcePattern.prefixed(ResourceType.TRANSACTIONAL_ID, "p"))
        == "/kafka-acl-extended/prefixed/TransactionalId/p"
    )


def test_node_data():
    assert json.loads(encode_entries([ENTRY])) == {
        "version": 1,
        "acls": [
            {
                "principal": "User:alice",
                "permissionType": "Allow",
                "operation": "DescribeConfigs",
                "host": "*",
            }
        ],
    }


def test_every_operation_survives():
    entries = {
        AclEntry(Principal.user("a:b"), "h", operation, permission)
        for operation in list(AclOperation)[2:]
        for permission in (Permission.ALLOW, Permission.DENY)
    }
    assert decode_entries(encode_entries(entries)) == entries


def test_changes_in_both_spellings():
    assert encode_change(ResourcePattern.literal(ResourceType.GROUP, "a:b")) == b"GROUP:a:b"
    for data in (b"TRANSACTIONAL_ID:x", b"TransactionalId:x"):
        assert decode_change(PatternType.LITERAL, data) == ResourcePattern.literal(
            ResourceType.TRANSACTIONAL_ID, "x"
        )


@pytest.mark.parametrize("kind", STORED_TYPES)
@pytest.mark.parametrize("pattern_type", [PatternType.LITERAL, PatternType.PREFIXED])
def test_changes_survive(kind, pattern_type):
    pattern = ResourcePattern(kind, "some name", pattern_type)
    assert decode_change(pattern_type, encode_change(pattern)) == pattern


@pytest.mark.parametrize(
    "data",
    [b"{", b"[]", b'{"version":2,"acls":[]}', b'{"version":1}', b'{"version":1,"acls":[{}]}'],
)
def test_unreadable_nodes_are_value_errors(data):
    with pytest.raises(ValueError):
        decode_entries(data)


@pytest.mark.parametrize("data", [b"nothing", b"WHAT:x", b"\xff\xfe:x"])
def test_unreadable_changes_are_value_errors(data):
    with pytest.raises(ValueError):
        decode_change(PatternType.LITERAL, data)


def test_super_users():
    assert parse_super_users("User:a; User:CN=b,O=c;") == {
        Principal.user("a"),
        Principal.user("CN=b,O=c"),
    }
    with pytest.raises(ValueError, match="User:alice"):
        parse_super_users("alice")
