"""Templates grant what such clients ask of brokers and no more; the matrix shows every rule."""

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.access.decisions.authorizer import AuthorizerSettings, Question, judge
from controlplane.access.decisions.matrix import COLUMNS_MAX, Wanted, matrix
from controlplane.access.decisions.templates import TEMPLATES, expand, granting
from controlplane.access.inputs import AclInputs
from controlplane.gateway.types import AclBinding

BY_NAME = {template.name: template for template in TEMPLATES}
ON = AuthorizerSettings(
    is_enabled=True, super_users=frozenset(), is_open_without_rules=False, peers_by_acl=True
)
FILLED = {
    "topic": "orders",
    "group": "workers",
    "transactional_id": "tx",
    "application_id": "totals",
    "input": "orders",
    "output": "sums",
}


def rules_of(name, values=None, prefixes=()):
    return expand(BY_NAME[name], "User:app", values or FILLED, prefixes)


def may(rules, operation, kind, name):
    asked = Question(
        principal="User:app",
        host="10.0.0.1",
        operation=operation,
        resource_type=kind,
        resource_name=name,
    )
    return judge(asked, rules, {1: ON}).is_allowed


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda each: each.name)
def test_every_rule_of_a_template_is_one_that_a_plan_takes(template):
    rows = [asdict(rule) for rule in expand(template, "User:app", FILLED)]
    given_rows = AclInputs(data={"bindings": rows})
    given_rows.is_valid(raise_exception=True)
    assert len({tuple(row.values()) for row in rows}) == len(rows) > 0
    named = {field.name for field in template.asks}
    assert {rule.field for rule in template.rules if rule.field} <= named


@pytest.mark.parametrize(
    ("template", "needs", "needs_not"),
    [
        (
            "consumer",
            [("READ", "TOPIC", "orders"), ("READ", "GROUP", "workers")],
            [("WRITE", "TOPIC", "orders"), ("READ", "TOPIC", "orders-2")],
        ),
        (
            "producer",
            [("WRITE", "TOPIC", "orders"), ("IDEMPOTENT_WRITE", "CLUSTER", "kafka-cluster")],
            [("READ", "TOPIC", "orders"), ("CREATE", "TOPIC", "orders")],
        ),
        (
            "transactional-producer",
            [("WRITE", "TRANSACTIONAL_ID", "tx"), ("DESCRIBE", "TRANSACTIONAL_ID", "tx")],
            [("WRITE", "TRANSACTIONAL_ID", "tx2")],
        ),
        (
            "streams",
            [
                ("READ", "TOPIC", "orders"),
                ("WRITE", "TOPIC", "sums"),
                ("READ", "GROUP", "totals"),
                ("CREATE", "TOPIC", "totals-store-changelog"),
                ("DELETE", "TOPIC", "totals-by-key-repartition"),
                ("WRITE", "TRANSACTIONAL_ID", "totals-0a1b-1"),
            ],
            [("CREATE", "TOPIC", "orders"), ("WRITE", "TOPIC", "totalsales")],
        ),
        (
            "read-only-admin",
            [
                ("DESCRIBE", "TOPIC", "any"),
                ("DESCRIBE_CONFIGS", "CLUSTER", "kafka-cluster"),
                ("DESCRIBE", "GROUP", "any"),
            ],
            [("READ", "TOPIC", "any"), ("ALTER", "CLUSTER", "kafka-cluster")],
        ),
    ],
)
def test_a_template_allows_what_its_client_asks_and_no_more(template, needs, needs_not):
    rules = rules_of(template)
    assert [each for each in needs if not may(rules, *each)] == []
    assert [each for each in needs_not if may(rules, *each)] == []


def test_fields_that_are_not_said_leave_their_rules_out_or_all_of_them():
    assert {rule.resource_type for rule in rules_of("consumer", {"topic": "orders"})} == {"TOPIC"}
    assert rules_of("consumer", {"group": "workers"}) == []


def test_a_prefix_is_one_for_the_field_of_which_it_is_said():
    rules = rules_of("consumer", prefixes=("topic",))
    patterns = {rule.resource_type: rule.pattern_type for rule in rules}
    assert patterns == {"TOPIC": "PREFIXED", "GROUP": "LITERAL"}


def test_which_templates_would_allow_something():
    assert granting("TRANSACTIONAL_ID", "WRITE") == ["transactional-producer", "streams"]
    assert granting("TOPIC", "ALTER") == []


# -- the matrix -----------------------------------------------------------------------------------
RULES = st.lists(
    st.builds(
        AclBinding,
        principal=st.sampled_from(["User:*", "User:a", "User:b"]),
        host=st.sampled_from(["*", "10.0.0.1"]),
        operation=st.sampled_from(["READ", "WRITE"]),
        permission=st.sampled_from(["ALLOW", "DENY"]),
        resource_type=st.sampled_from(["TOPIC", "GROUP"]),
        resource_name=st.sampled_from(["x", "y", "*"]),
        pattern_type=st.sampled_from(["LITERAL", "PREFIXED"]),
    ),
    max_size=30,
    unique=True,
)


def rules_in(shown):
    found = set()
    for row in shown["rows"]:
        for cell in row["cells"]:
            resource = shown["resources"][cell["resource"]]
            for permission in ("allow", "deny"):
                for entry in cell[permission]:
                    found |= {
                        AclBinding(
                            principal=row["principal"],
                            host=host,
                            operation=entry["operation"],
                            permission=permission.upper(),
                            **resource,
                        )
                        for host in entry["hosts"]
                    }
    return found


@given(RULES)
def test_the_matrix_shows_each_rule_of_its_principals_once(rules):
    principals = sorted({rule.principal for rule in rules})
    shown = matrix(rules, principals)
    assert rules_in(shown) == set(rules)
    assert [row["principal"] for row in shown["rows"]] == principals
    of_one = matrix(rules, principals[:1])
    assert rules_in(of_one) == {rule for rule in rules if rule.principal in principals[:1]}


def test_of_too_many_resources_those_with_the_most_rules_stay_and_the_rest_is_counted():
    def rule(at, operation="READ"):
        return AclBinding(
            principal="User:a",
            host="*",
            operation=operation,
            permission="ALLOW",
            resource_type="TOPIC",
            resource_name=f"t{at:03}",
            pattern_type="LITERAL",
        )

    last = COLUMNS_MAX + 4
    shown = matrix([*(rule(at) for at in range(last + 1)), rule(last, "WRITE")], ["User:a"])
    names = [each["resource_name"] for each in shown["resources"]]
    assert (len(names), shown["columns_left_out"]) == (COLUMNS_MAX, 5)
    assert names == sorted(names)
    assert f"t{last:03}" in names


def test_what_is_looked_for_is_found_in_any_case():
    rule = AclBinding(
        principal="User:App",
        host="*",
        operation="READ",
        permission="ALLOW",
        resource_type="TOPIC",
        resource_name="Orders",
        pattern_type="LITERAL",
    )
    assert Wanted(principal="app", resource="ORD", resource_type="TOPIC").fits(rule)
    assert not Wanted(resource_type="GROUP").fits(rule)
    assert not Wanted(principal="other").fits(rule)
