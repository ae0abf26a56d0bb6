"""No connection on a tenant's word passes by the policy: there is one place that makes each."""

from __future__ import annotations

import ast

from tests.architecture.test_tidy import REPOSITORY, tracked

CLIENTS = {"KafkaAdminClient", "KafkaProducer", "KafkaConsumer"}
CONNECTING = {"socket", "create_connection", "getaddrinfo", "urlopen"}


def calls(path):
    """(dotted text of what is called, the call) for each call in a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def name(path):
    return str(path.relative_to(REPOSITORY))


def test_connections_are_described_where_their_policy_is_chosen():
    found = {
        name(path)
        for path in tracked("controlplane/**/*.py", "console/**/*.py")
        for called, _ in calls(path)
        if called == "ConnectionSpec"
    }
    assert found == {"controlplane/clusters/connections.py"}


def test_every_client_of_the_library_is_given_the_policy():
    given = {}
    for path in tracked("controlplane/**/*.py"):
        for called, call in calls(path):
            if called in CLIENTS:
                spread = [ast.unparse(k.value) for k in call.keywords if k.arg is None]
                has_policy = any(text.startswith("client_settings(") for text in spread)
                given[name(path), called] = has_policy
    assert {called for _, called in given} == set(CLIENTS)
    assert all(given.values()), given


def test_the_gateway_resolves_and_connects_in_one_place():
    """Notifications too: what they send goes over a connection that it made."""
    found = {
        name(path)
        for path in tracked("controlplane/gateway/*.py", "controlplane/notifications/**.py")
        for called, _ in calls(path)
        if called.rpartition(".")[2] in CONNECTING
    }
    assert found == {"controlplane/gateway/egress.py"}
