"""What ACLs open and what their removal takes, held against an authorizer written out."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.access.rules import access_lost, create_warnings, delete_warnings, opens
from controlplane.gateway.types import AclBinding

IMPLIES_DESCRIBE = {"READ", "WRITE", "DELETE", "ALTER", "ALL", "DESCRIBE"}
REQUESTS = list(
    itertools.product(
        ["User:app", "User:other"],
        ["10.0.0.1", "10.0.0.2"],
        ["READ", "WRITE", "DESCRIBE"],
        ["a", "ab", "b"],
    )
)


def rule(**changes):
    values = {
        "principal": "User:app",
        "host": "*",
        "operation": "READ",
        "permission": "ALLOW",
        "resource_type": "TOPIC",
        "resource_name": "a",
        "pattern_type": "LITERAL",
    }
    return AclBinding(**{**values, **changes})


RULES = st.builds(
    rule,
    principal=st.sampled_from(["User:app", "User:*"]),
    host=st.sampled_from(["*", "10.0.0.1"]),
    operation=st.sampled_from(["READ", "WRITE", "DESCRIBE", "ALL"]),
    resource_name=st.sampled_from(["a", "ab", "*"]),
    pattern_type=st.sampled_from(["LITERAL", "PREFIXED"]),
)


def allowed(rules, principal, host, operation, name):
    return any(
        found.principal in {principal, "User:*"}
        and found.host in {host, "*"}
        and (
            found.operation in {operation, "ALL"}
            or (operation == "DESCRIBE" and found.operation in IMPLIES_DESCRIBE)
        )
        and found.covers("TOPIC", name)
        for found in rules
    )


@given(st.lists(RULES, min_size=1, max_size=3), st.lists(RULES, max_size=4))
def test_where_no_access_is_said_to_be_lost_none_is(removed, left):
    if access_lost(removed, left):
        return
    for request in REQUESTS:
        assert allowed(left, *request) or not allowed(removed, *request)


@given(RULES)
def test_a_rule_that_stands_twice_is_not_missed_and_the_only_one_is(only):
    assert access_lost([only], [only]) == []
    assert access_lost([only], []) == [only]


@pytest.mark.parametrize(
    ("left", "is_lost"),
    [
        ({"operation": "ALL"}, False),
        ({"principal": "User:*"}, False),
        ({"resource_name": "*"}, False),
        ({"resource_name": "a", "pattern_type": "PREFIXED"}, False),
        ({"host": "10.0.0.1"}, True),
        ({"operation": "DESCRIBE"}, True),
        ({"principal": "User:other"}, True),
        ({"resource_type": "GROUP"}, True),
        ({"permission": "DENY"}, True),
    ],
)
def test_who_else_grants_it(left, is_lost):
    assert bool(access_lost([rule()], [rule(**left)])) == is_lost


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"operation": "ALL", "resource_name": "*"}, True),
        ({"operation": "READ", "resource_name": "*"}, True),
        ({"operation": "ALL"}, True),
        ({"operation": "DELETE", "pattern_type": "PREFIXED"}, True),
        ({"operation": "ALTER", "resource_type": "CLUSTER"}, True),
        ({"operation": "DESCRIBE", "resource_name": "*"}, False),
        ({"operation": "READ"}, False),
        ({"operation": "ALL", "resource_name": "*", "permission": "DENY"}, False),
        ({"operation": "ALL", "resource_name": "*", "principal": "User:app"}, False),
    ],
)
def test_what_opens_the_cluster_to_everyone(changes, expected):
    wide = rule(**{"principal": "User:*", **changes})
    assert opens(wide) == expected
    assert any("risk" in row for row in create_warnings([wide])) == (
        expected or wide.permission == "DENY"
    )


def test_warnings_of_a_removal_name_the_risk():
    gone = [rule(), rule(permission="DENY")]
    assert {row["code"]: row["risk"] for row in delete_warnings(gone, [])} == {
        "deny-lifted": "opens-access",
        "access-lost": "loses-access",
    }
    assert delete_warnings([rule()], [rule(operation="ALL")]) == []
