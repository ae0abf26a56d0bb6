"""Can X do Y on Z, and why: held against the brokers' own evaluator, and said in words."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.access.decisions import authorizer
from controlplane.access.decisions.authorizer import (
    NOTHING_READ,
    AuthorizerSettings,
    Question,
    Reason,
    Verdict,
    authorize,
    hosts_with_another_verdict,
    judge,
    settings_of,
)
from controlplane.access.decisions.words import sentence
from controlplane.access.inputs import VALID_OPERATIONS
from controlplane.gateway.types import AclBinding
from dataplane.security import acl as broker_acl
from dataplane.security.acl_index import AclIndex
from dataplane.security.principal import Principal

ON = AuthorizerSettings(
    is_enabled=True, super_users=frozenset(), is_open_without_rules=False, peers_by_acl=True
)
OFF = replace(ON, is_enabled=False)
DENIED = "User:app may not read the topic orders:"
UNKNOWN = "Whether User:app may read the topic orders is unknown:"


def rule(**changes):
    values = {
        "principal": "User:app",
        "host": "*",
        "operation": "READ",
        "permission": "ALLOW",
        "resource_type": "TOPIC",
        "resource_name": "orders",
        "pattern_type": "LITERAL",
    }
    return AclBinding(**{**values, **changes})


def question(**changes):
    values = {
        "principal": "User:app",
        "host": "10.0.0.1",
        "operation": "READ",
        "resource_type": "TOPIC",
        "resource_name": "orders",
    }
    return Question(**{**values, **changes})


# -- against the brokers' evaluator ---------------------------------------------------------------
NAMES = ["a", "ab", "abc", "b", "*"]
HOSTS = ["10.0.0.1", "10.0.0.2", "::1", "0:0:0:0:0:0:0:1", "::ffff:10.0.0.1", "no-address"]
TYPES = sorted(VALID_OPERATIONS)
PRINCIPALS = ["User:app", "User:other", "User:root"]


@st.composite
def rules_and_question(draw):
    def name_of(kind):
        return "kafka-cluster" if kind == "CLUSTER" else draw(st.sampled_from(NAMES))

    kinds = st.sampled_from(TYPES)
    rules = []
    for kind in draw(st.lists(kinds, max_size=8)):
        operation = draw(st.sampled_from(sorted(VALID_OPERATIONS[kind])))
        rules.append(
            rule(
                principal=draw(st.sampled_from(["User:*", "User:app", "User:other"])),
                host=draw(st.sampled_from(["*", *HOSTS])),
                operation=operation,
                permission=draw(st.sampled_from(["ALLOW", "ALLOW", "DENY"])),
                resource_type=kind,
                resource_name=name_of(kind),
                pattern_type=draw(st.sampled_from(["LITERAL", "PREFIXED"])),
            )
        )
    kind = draw(st.sampled_from([*(each.resource_type for each in rules), draw(kinds)]))
    asked = question(
        principal=draw(st.sampled_from(PRINCIPALS)),
        host=draw(st.sampled_from(HOSTS)),
        operation=draw(st.sampled_from(sorted(VALID_OPERATIONS[kind] - {"ALL"}))),
        resource_type=kind,
        resource_name=name_of(kind),
    )
    settings = AuthorizerSettings(
        is_enabled=True,
        super_users=frozenset({"User:root"}),
        is_open_without_rules=draw(st.booleans()),
        peers_by_acl=draw(st.booleans()),
    )
    return rules, asked, settings


def brokers_index(rules, settings):
    index = AclIndex(
        super_users=frozenset(Principal.parse(user) for user in settings.super_users),
        allow_if_no_acl_found=settings.is_open_without_rules,
        peers_by_acl=settings.peers_by_acl,
    )
    lists = {}
    for each in rules:
        pattern = broker_acl.ResourcePattern(
            broker_acl.ResourceType[each.resource_type],
            each.resource_name,
            broker_acl.PatternType[each.pattern_type],
        )
        lists.setdefault(pattern, set()).add(
            broker_acl.AclEntry(
                Principal.parse(each.principal),
                each.host,
                broker_acl.AclOperation[each.operation],
                broker_acl.Permission[each.permission],
            )
        )
    for pattern, entries in lists.items():
        index.replace(pattern, entries)
    return index


def of_brokers(index, asked):
    return index.authorize(
        Principal.parse(asked.principal),
        asked.host,
        broker_acl.AclOperation[asked.operation],
        broker_acl.ResourceType[asked.resource_type],
        asked.resource_name,
    )


@given(rules_and_question())
def test_it_decides_as_the_brokers_do(made):
    rules, asked, settings = made
    index = brokers_index(rules, settings)
    found = authorize(asked, rules, settings)
    assert found.is_allowed == of_brokers(index, asked)


@given(rules_and_question())
def test_ways_around_are_those_of_the_brokers_handlers(made):
    """Creating a topic by CREATE on the cluster; an idempotent producer by WRITE on any topic."""
    rules, asked, settings = made
    index = brokers_index(rules, settings)
    is_allowed = of_brokers(index, asked)
    if (asked.resource_type, asked.operation) == ("TOPIC", "CREATE"):
        on_cluster = replace(asked, resource_type="CLUSTER", resource_name="kafka-cluster")
        is_allowed = is_allowed or of_brokers(index, on_cluster)
    if (asked.resource_type, asked.operation) == ("CLUSTER", "IDEMPOTENT_WRITE"):
        is_allowed = is_allowed or index.authorize_any(
            Principal.parse(asked.principal),
            asked.host,
            broker_acl.AclOperation.WRITE,
            broker_acl.ResourceType.TOPIC,
        )
    assert judge(asked, rules, {1: settings}).is_allowed == is_allowed


@given(rules_and_question())
def test_what_it_says_is_missing_makes_it_allowed(made):
    """Adding what is missing, and removing what denies, is enough: the page offers just that."""
    rules, asked, settings = made
    found = judge(asked, rules, {1: settings})
    if found.is_allowed or found.reason is Reason.PEERS_ONLY:
        return
    denying = set(found.deciding)
    mended = [each for each in rules if each not in denying] + list(found.missing)
    assert authorize(asked, mended, settings).is_allowed


@given(rules_and_question())
def test_what_is_not_known_gives_only_answers_that_hold_either_way(made):
    rules, asked, settings = made
    for unread in ("is_enabled", "super_users", "is_open_without_rules", "peers_by_acl"):
        partly = replace(settings, **{unread: None})
        found = judge(asked, rules, {1: partly})
        if found.verdict is not Verdict.UNKNOWN:
            assert found.verdict is judge(asked, rules, {1: settings}).verdict
        else:
            assert found.unknown


# -- why ------------------------------------------------------------------------------------------
def test_it_names_the_rules_that_allow():
    granting = [rule(), rule(resource_name="ord", pattern_type="PREFIXED", operation="ALL")]
    other = [rule(operation="WRITE"), rule(principal="User:b"), rule(host="10.9.9.9")]
    found = judge(question(), granting + other, {1: ON, 2: ON})
    assert found.reason is Reason.ALLOW_RULE
    assert set(found.deciding) == set(granting)


def test_a_denial_is_named_and_what_is_missing_beside_it():
    denial = rule(permission="DENY", principal="User:*", resource_name="*")
    alone = judge(question(), [denial], {1: ON})
    assert (alone.reason, alone.deciding) == (Reason.DENY_RULE, (denial,))
    assert alone.missing == (rule(),)
    assert judge(question(), [denial, rule()], {1: ON}).missing == ()


def test_a_denial_of_read_denies_no_describe():
    rules = [rule(permission="DENY"), rule(operation="WRITE")]
    assert judge(question(operation="DESCRIBE"), rules, {1: ON}).is_allowed


@pytest.mark.parametrize(
    ("settings", "reason", "verdict"),
    [
        (OFF, Reason.NO_AUTHORIZER, Verdict.ALLOWED),
        (replace(ON, super_users=frozenset({"User:app"})), Reason.SUPER_USER, Verdict.ALLOWED),
        (replace(ON, is_open_without_rules=True), Reason.OPEN, Verdict.ALLOWED),
        (ON, Reason.NO_RULE, Verdict.DENIED),
        (replace(ON, super_users=None), Reason.SETTINGS_UNKNOWN, Verdict.UNKNOWN),
        (NOTHING_READ, Reason.SETTINGS_UNKNOWN, Verdict.UNKNOWN),
    ],
)
def test_settings_decide_where_no_rule_does(settings, reason, verdict):
    found = judge(question(), [], {1: settings})
    assert (found.reason, found.verdict) == (reason, verdict)


def test_who_is_allowed_by_a_rule_is_allowed_whatever_the_settings_are():
    assert judge(question(), [rule()], {}).is_allowed


def test_brokers_that_are_set_differently_are_named():
    found = judge(question(), [], {1: ON, 2: OFF})
    assert found.verdict is Verdict.UNKNOWN
    assert found.by_broker == ((1, Verdict.DENIED), (2, Verdict.ALLOWED))
    assert sentence(question(), found) == (
        f"{UNKNOWN} the brokers are set differently; broker 1 says denied, broker 2 says allowed."
    )


def test_hosts_that_get_another_answer_are_named():
    rules = [rule(), rule(permission="DENY", host="10.0.0.7"), rule(host="10.0.0.8")]
    asked = question(host="")
    found = judge(asked, rules, {1: ON})
    assert found.is_allowed
    assert hosts_with_another_verdict(asked, rules, {1: ON}, found.verdict) == ["10.0.0.7"]


def test_only_brokers_are_peers_on_a_managed_cluster():
    asked = question(
        operation="CLUSTER_ACTION", resource_type="CLUSTER", resource_name="kafka-cluster"
    )
    rules = [rule(operation="ALL", resource_type="CLUSTER", resource_name="kafka-cluster")]
    found = judge(asked, rules, {1: replace(ON, peers_by_acl=False)})
    assert (found.reason, found.missing) == (Reason.PEERS_ONLY, ())
    assert judge(asked, rules, {1: ON}).is_allowed


@pytest.mark.parametrize(
    ("rules", "settings", "said"),
    [
        ([rule()], ON, "User:app may read the topic orders: 1 ACL allows it and none denies it."),
        ([], ON, f"{DENIED} no ACL is about this resource."),
        (
            [rule(permission="DENY"), rule(permission="DENY", principal="User:*")],
            ON,
            f"{DENIED} 2 ACLs deny it, and a DENY wins over every ALLOW.",
        ),
        (
            [],
            replace(ON, super_users=None),
            f"{UNKNOWN} it hangs on super.users, which could not be read.",
        ),
    ],
)
def test_it_is_said_in_a_sentence(rules, settings, said):
    assert sentence(question(), judge(question(), rules, {1: settings})) == said


# -- settings as brokers say them -----------------------------------------------------------------
def test_settings_are_read_from_what_a_broker_answers():
    found = settings_of(
        {
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "super.users": "User:a; User:b;",
            "allow.everyone.if.no.acl.found": "TRUE",
            "penstock.tenant.configs.only": "true",
            "penstock.inter.broker.username": "peer",
        }
    )
    assert found == AuthorizerSettings(
        is_enabled=True,
        super_users=frozenset({"User:a", "User:b", "User:peer"}),
        is_open_without_rules=True,
        peers_by_acl=False,
    )


def test_a_key_that_is_not_set_is_known_and_one_that_is_hidden_is_not():
    """Apache Kafka answers keys of its authorizer, whose type it does not know, without value."""
    assert settings_of({}) == OFF
    hidden = settings_of({"authorizer.class.name": "x", "super.users": None})
    assert (hidden.is_enabled, hidden.super_users) == (True, None)
    assert hidden.unknown == ("super.users",)


def test_many_rules_times_many_brokers_that_hide_their_settings_are_looked_at_once(monkeypatch):
    """Each by itself is allowed to a tenant; together one question took half a minute of CPU."""
    looked_at = []

    def concerns(asked_of, *asked):
        looked_at.append(asked_of)
        return authorizer_concerns(asked_of, *asked)

    authorizer_concerns = authorizer.concerns
    monkeypatch.setattr(authorizer, "concerns", concerns)
    rules = [
        rule(
            principal="User:app" if number % 2 else "User:other",
            host=f"10.0.{number // 250}.{number % 250}",
            resource_name="orders" if number % 4 < 2 else f"other-{number}",
        )
        for number in range(2_000)
    ]
    found = judge(question(host="192.0.2.1"), rules, dict.fromkeys(range(100), NOTHING_READ))
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, Reason.SETTINGS_UNKNOWN)
    # A quarter of them is about this user and topic, and one stands for all others; a broker may be
    # set in 16 ways, in each of which rules are looked at once at most.
    assert len(looked_at) <= 16 * 501


@pytest.mark.parametrize("is_open", [False, True])
def test_rules_about_others_still_close_what_is_open_without_rules(is_open):
    settings = replace(ON, is_open_without_rules=is_open)
    found = judge(question(), [rule(principal="User:other")] * 3, {1: settings})
    assert (found.verdict, found.reason) == (Verdict.DENIED, Reason.NOT_GRANTED)
