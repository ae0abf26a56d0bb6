"""Two passwords of one user on real brokers, tried by a stock client: both log in during the
overlap, the new one alone afterwards, and a connection that is open goes on.
"""

import time

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from tests.controlplane.live.clients import Clients

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(300)]
OLD, NEW = "SCRAM-SHA-512", "SCRAM-SHA-256"
OVERLAP_S = 15
LATE_S_MAX = 60.0


def client_of(service, cluster, secret, **more):
    tls = {"security.protocol": "SASL_SSL", "ssl.ca.pem": service.ca_pem}
    return AdminClient(
        {
            "bootstrap.servers": cluster["bootstrap_servers"],
            **(tls if service.ca_pem else {"security.protocol": "SASL_PLAINTEXT"}),
            "sasl.mechanism": secret["mechanism"],
            "sasl.username": secret["username"],
            "sasl.password": secret["password"],
            "log_level": 0,
            **more,
        }
    )


def logs_in(service, cluster, secret):
    """Whether the brokers take it; anything else than a refused login is an error."""
    errors = []
    client = client_of(service, cluster, secret, error_cb=errors.append)
    try:
        client.list_topics(timeout=10)
    except KafkaException:
        client.poll(0.1)
        codes = {error.code() for error in errors}
        assert KafkaError._AUTHENTICATION in codes, errors  # noqa: SLF001 - a constant
        return False
    return True


def secret_of(service, operation):
    assert operation["state"] == "succeeded", operation
    return service.post(f"/operations/{operation['id']}/secret")


def overlaps(service, username):
    """Of one user: other tests leave theirs."""
    rows = service.get(f"/clusters/{service.cluster_id}/overlaps")["data"]
    return [row for row in rows if row["username"] == username]


@pytest.fixture
def rotate(service, clients):
    """Make a user and rotate its password: (operation, old secret, new secret)."""

    def run(name, overlap_s):
        old = secret_of(service, service.run("user.create", username=name))
        plan = service.plan("user.rotate", username=name, overlap_s=overlap_s)
        said = {row["code"]: row["text"] for row in plan["impact"]["warnings"]}
        assert not {"mechanism-unknown", "mechanism-not-everywhere"} & set(said), said
        assert "connections.max.reauth.ms is 0" in said["old-password-until"]
        operation = service.finish(service.confirm(plan))
        new = secret_of(service, operation)
        assert (old["mechanism"], new["mechanism"]) == (OLD, NEW)
        return operation, old, new

    return run


def test_both_log_in_until_the_time_is_over_and_then_the_new_one_alone(service, cluster, rotate):
    rules = [
        {
            "principal": "User:overlapping",
            "operation": name,
            "resource_type": "TOPIC",
            "resource_name": "overlapping",
        }
        for name in ("WRITE", "DESCRIBE")
    ]
    service.run("topic.create", name="overlapping", partitions=1, replication_factor=3)
    service.run("acl.create", bindings=rules)
    operation, old, new = rotate("overlapping", OVERLAP_S)
    (row,) = overlaps(service, "overlapping")
    assert (row["rotation"], row["state"]) == (operation["id"], "standing")
    earlier = client_of(service, cluster, old)
    assert "overlapping" in earlier.list_topics(timeout=10).topics
    assert logs_in(service, cluster, old)
    assert logs_in(service, cluster, new)
    assert not logs_in(service, cluster, {**new, "mechanism": OLD})
    # Its rules are the user's, whichever password it came by.
    Clients(cluster["bootstrap_servers"], new, ca_pem=service.ca_pem).produce("overlapping", 5)
    deadline_s = time.monotonic() + OVERLAP_S + LATE_S_MAX
    while overlaps(service, "overlapping"):
        assert time.monotonic() < deadline_s, overlaps(service, "overlapping")
        time.sleep(0.5)
    assert not logs_in(service, cluster, old)
    assert logs_in(service, cluster, new)
    # What is open goes on, as the plan says: brokers ask no login for a second time.
    assert "overlapping" in earlier.list_topics(timeout=10).topics
    ended = service.get("/operations?state=succeeded")["data"]
    assert any(one["kind"] == "user.retire" and one["actor"] == "system" for one in ended)


def test_ended_early_the_old_one_is_refused_at_once(service, cluster, rotate):
    _, old, new = rotate("early", 3600)
    service.run("user.retire", username="early", mechanism=OLD)
    assert not logs_in(service, cluster, old)
    assert logs_in(service, cluster, new)
    assert overlaps(service, "early") == []


def test_taken_back_the_new_one_is_refused_and_the_old_one_stays(service, cluster, rotate):
    operation, old, new = rotate("back", 3600)
    undo = service.post(f"/operations/{operation['id']}/undo-plan")
    assert service.finish(service.confirm(undo))["state"] == "succeeded"
    assert logs_in(service, cluster, old)
    assert not logs_in(service, cluster, new)
    assert service.operation(operation)["state"] == "reverted"
