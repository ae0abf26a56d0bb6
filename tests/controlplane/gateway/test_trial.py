"""A way in tried before anything is stored, against real brokers and what else may answer."""

import time

import pytest

from controlplane.clusters.trial import ASK_S, PROBE_S, try_way_in
from controlplane.common.problems import Problem
from controlplane.gateway.connection_spec import ConnectionSpec
from tests.controlplane.gateway.conftest import spec_of
from tests.controlplane.gateway.peers import http_server, serving, silent


def refused(spec):
    with pytest.raises(Problem) as caught:
        try_way_in(spec)
    return caught.value


def test_eight_addresses_where_nobody_answers_cost_one_deadline():
    with serving(silent) as address:
        began_s = time.monotonic()
        problem = refused(ConnectionSpec(bootstrap_servers=(address,) * 9))
    assert time.monotonic() - began_s < 3 * PROBE_S
    assert len(problem.extra["probes"]) == 8
    assert {row["code"] for row in problem.errors} == {"not-kafka"}


def test_a_web_server_is_named():
    with http_server() as address:
        problem = refused(ConnectionSpec(bootstrap_servers=(address,)))
    assert "an HTTP server" in problem.detail


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_an_administrator_s_way_in_is_whole(secured):
    trial = try_way_in(spec_of(secured))
    assert trial.brokers == 3
    assert trial.kafka_id
    assert trial.warnings == []
    assert all(row.ok for row in trial.probes)


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_a_weak_login_is_taken_and_what_it_cannot_do_is_said(kafka, secured):
    kafka.upsert_user("weak", "SCRAM-SHA-256", "its-password")
    deadline_s = time.monotonic() + 10
    while True:  # the password reaches every broker a moment later
        try:
            trial = try_way_in(spec_of(secured, username="weak", password="its-password"))
            break
        except Problem:
            assert time.monotonic() < deadline_s
    said = " ".join(row["text"] for row in trial.warnings)
    assert "see users, ACLs" in said
    assert "CLUSTER_AUTHORIZATION_FAILED" in said or "TOPIC_AUTHORIZATION_FAILED" in said
    kafka.delete_user("weak", "SCRAM-SHA-256")


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_a_wrong_password_is_the_step_that_failed(secured):
    began_s = time.monotonic()
    problem = refused(spec_of(secured, password="wrong"))
    assert time.monotonic() - began_s < PROBE_S + ASK_S
    assert {row["step"] for row in problem.extra["probes"]} == {"login"}
