"""Who may do what: the rules of Kafka's AclAuthorizer as a table."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.security.acl import (
    AclBinding,
    AclEntry,
    AclFilter,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
    operations_granting,
)
from dataplane.security.acl_index import AclIndex
from dataplane.security.principal import EVERYONE, Principal

ALICE, BOB, ROOT = (Principal.user(name) for name in ("alice", "bob", "root"))
TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
READ, WRITE, ALL, DESCRIBE = (
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.ALL,
    AclOperation.DESCRIBE,
)
ALLOW, DENY = Permission.ALLOW, Permission.DENY
ORDERS = ResourcePattern.literal(TOPIC, "orders")


def entry(principal=ALICE, operation=READ, permission=ALLOW, host="*"):
    return AclEntry(principal, host, operation, permission)


def index(*bindings, open_to_all=False):
    made = AclIndex(super_users=frozenset({ROOT}), allow_if_no_acl_found=open_to_all)
    for pattern in {pattern for pattern, _ in bindings}:
        made.replace(pattern, [item for where, item in bindings if where == pattern])
    return made


def may(acls, principal=ALICE, *, operation=READ, name="orders", host="10.0.0.1", kind=TOPIC):
    return acls.authorize(principal, host, operation, kind, name)


def test_nothing_is_allowed_without_an_acl():
    assert not may(index())


def test_everything_is_allowed_without_an_acl_if_so_configured():
    acls = index((ORDERS, entry()), open_to_all=True)
    assert may(acls, BOB, name="other")
    assert not may(acls, BOB), "an ACL about somebody else closes the resource"


def test_super_users_may_everything_even_what_is_denied():
    assert may(index((ORDERS, entry(EVERYONE, ALL, DENY))), ROOT)


@pytest.mark.parametrize(
    ("allowed", "denied"), list(itertools.product(["literal", "*", "prefix"], repeat=2))
)
def test_deny_wins_whatever_the_patterns(allowed, denied):
    patterns = {
        "literal": ORDERS,
        "*": ResourcePattern.literal(TOPIC, "*"),
        "prefix": ResourcePattern.prefixed(TOPIC, "ord"),
    }
    acls = index((patterns[allowed], entry()))
    assert may(acls)
    acls.replace(patterns[denied], [entry(), entry(permission=DENY)])
    assert not may(acls)


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        (ResourcePattern.literal(TOPIC, "orders"), "orders", True),
        (ResourcePattern.literal(TOPIC, "orders"), "orders2", False),
        (ResourcePattern.literal(TOPIC, "*"), "anything", True),
        (ResourcePattern.prefixed(TOPIC, "ord"), "orders", True),
        (ResourcePattern.prefixed(TOPIC, "orders"), "orders", True),
        (ResourcePattern.prefixed(TOPIC, "orders."), "orders", False),
        (ResourcePattern.prefixed(TOPIC, "*"), "orders", False),
        (ResourcePattern.literal(GROUP, "orders"), "orders", False),
    ],
)
def test_patterns(pattern, name, expected):
    assert may(index((pattern, entry())), name=name) is expected


@pytest.mark.parametrize(
    ("who", "host", "expected"),
    [
        (ALICE, "*", True),
        (ALICE, "10.0.0.1", True),
        (ALICE, "10.0.0.2", False),
        (EVERYONE, "*", True),
        (BOB, "*", False),
    ],
)
def test_principals_and_hosts(who, host, expected):
    assert may(index((ORDERS, entry(who, host=host)))) is expected


@pytest.mark.parametrize(
    ("written", "seen", "expected"),
    [
        ("10.0.0.1", "::ffff:10.0.0.1", True),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("0:0:0:0:0:0:0:1", "::1", True),
        ("2001:DB8::A", "2001:db8:0:0:0:0:0:a", True),
        ("10.0.0.1", "::ffff:10.0.0.2", False),
        ("::1", "127.0.0.1", False),
        ("10.0.0.01", "10.0.0.1", False),
        ("host", "10.0.0.1", False),
        ("host", "host", True),
    ],
)
def test_an_address_is_the_same_however_it_is_written(written, seen, expected):
    """A listener on `::` sees IPv4 clients mapped: a DENY for one of them has to hold there too."""
    assert may(index((ORDERS, entry(host=written))), host=seen) is expected
    denied = index((ORDERS, entry()), (ORDERS, entry(permission=DENY, host=written)))
    assert may(denied, host=seen) is not expected


@pytest.mark.parametrize(
    ("named", "asked"), list(itertools.product(list(AclOperation)[2:], list(AclOperation)[3:]))
)
def test_operations_imply_others_for_allow_only(named, asked):
    implied = named in (asked, ALL) or (
        (asked is DESCRIBE and named.name in ("READ", "WRITE", "DELETE", "ALTER"))
        or (asked.name == "DESCRIBE_CONFIGS" and named.name == "ALTER_CONFIGS")
    )
    assert may(index((ORDERS, entry(operation=named))), operation=asked) is implied
    denied = index(
        (ORDERS, entry(operation=named, permission=DENY)), (ORDERS, entry(operation=ALL))
    )
    assert may(denied, operation=asked) is (named not in (asked, ALL))


def test_a_change_is_in_force_at_once():
    acls = index((ORDERS, entry()))
    assert may(acls)
    acls.replace(ORDERS, [])
    assert not may(acls)
    assert list(acls.patterns()) == []


operations = st.sampled_from([READ, WRITE, ALL, DESCRIBE])
entries = st.builds(
    AclEntry,
    st.sampled_from([ALICE, BOB, EVERYONE]),
    st.sampled_from(["*", "h1", "h2"]),
    operations,
    st.sampled_from([ALLOW, DENY]),
)
patterns = st.builds(
    ResourcePattern,
    st.sampled_from([TOPIC, GROUP]),
    st.sampled_from(["a", "ab", "abc", "*", "b"]),
    st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
)
bindings = st.lists(st.builds(AclBinding, patterns, entries), max_size=8)


def by_the_book(acls, open_to_all, question):
    """The rules once more, without any index."""
    principal, host, operation, kind, name = question
    matching = [
        item
        for pattern, item in acls
        if pattern.resource_type is kind
        and (
            name.startswith(pattern.name)
            if pattern.pattern_type is PatternType.PREFIXED
            else pattern.name in (name, "*")
        )
    ]
    if not matching:
        return open_to_all
    mine = [
        item
        for item in matching
        if item.principal in (principal, EVERYONE) and item.host in (host, "*")
    ]
    if any(i.permission is DENY and i.operation in (operation, ALL) for i in mine):
        return False
    granting = operations_granting(operation) | {ALL}
    return any(i.permission is ALLOW and i.operation in granting for i in mine)


@given(
    bindings,
    st.booleans(),
    st.sampled_from([READ, WRITE, DESCRIBE]),
    st.sampled_from(["h1", "h2"]),
)
def test_the_index_decides_by_the_book(acls, open_to_all, operation, host):
    made = index(*acls, open_to_all=open_to_all)
    for kind, name, principal in itertools.product(
        (TOPIC, GROUP), ("a", "ab", "abcd", "b", "zz"), (ALICE, BOB)
    ):
        question = (principal, host, operation, kind, name)
        expected = by_the_book(acls, open_to_all, question)
        assert made.authorize(*question) is expected
        assert made.authorize(*question) is expected, "remembered"


@given(bindings, st.sampled_from([READ, WRITE]))
def test_any_resource_means_that_there_is_a_name_that_is_allowed(acls, operation):
    made = index(*acls)
    names = [f"{prefix}{rest}" for prefix in ("a", "ab", "abc", "b", "*") for rest in ("", "xx")]
    names += ["zz", "*xx"]
    found = made.authorize_any(ALICE, "h1", operation, TOPIC)
    really = any(
        made.authorize(ALICE, "h1", operation, TOPIC, name) for name in names if name != "*"
    )
    if found is not really:
        # Kafka's own approximation: an allowed `*` counts unless `*` is denied.
        star = ResourcePattern.literal(TOPIC, "*")
        assert any(pattern.name == "*" for pattern, _ in acls), (found, really, star)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (AclFilter(), 3),
        (AclFilter(resource_type=GROUP), 1),
        (AclFilter(pattern_type=PatternType.PREFIXED), 1),
        (AclFilter(name="orders"), 1),
        (AclFilter(name="orders", pattern_type=PatternType.MATCH), 3),
        (AclFilter(TOPIC, "orders", PatternType.MATCH), 2),
        (AclFilter(principal="User:bob"), 1),
        (AclFilter(operation=WRITE), 1),
        (AclFilter(permission=DENY), 1),
        (AclFilter(host="h9"), 0),
        (AclFilter(name="*", pattern_type=PatternType.LITERAL), 1),
    ],
)
def test_filters(wanted, found):
    acls = index(
        (ResourcePattern.prefixed(TOPIC, "ord"), entry()),
        (ORDERS, entry(BOB, WRITE, DENY)),
        (ResourcePattern.literal(GROUP, "*"), entry()),
    )
    assert len(acls.find(wanted)) == found
