"""A stock Kafka that takes tokens of an issuer: registered, governed, and refused, by the service."""

import time
from pathlib import Path

import pytest

from controlplane.gateway.connection_spec import ConnectionSpec, OAuthClient
from controlplane.gateway.egress import policy_of
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.oauth import token_of
from controlplane.gateway.probe import probe
from tests.controlplane.gateway.token_endpoint import token_endpoint
from tests.controlplane.live.service import Refused
from tests.controlplane.live.token_kafka import CLIENT, SECRET, token_kafka

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(400)]
LIFETIME_S = 5
"""Of every token: the tests outlast it."""


@pytest.fixture(scope="module")
def kafka(tmp_path_factory):
    with token_kafka(Path(tmp_path_factory.mktemp("tokens")), lifetime_s=LIFETIME_S) as made:
        yield made


@pytest.fixture
def issuer(kafka):
    """As it was before, afterwards."""
    made = kafka.issuer
    before = made.audience, dict(made.secrets)
    yield made
    made.audience, made.secrets = before


@pytest.fixture
def tenant(service, request):
    """Without a cluster yet."""
    made = service.tenant(request.node.name.replace("_", "-")[-40:].strip("-"))
    made.cluster_id = None
    return made


def refused(tenant, inputs):
    """The one probe, and the one error that the plan of registering ended in."""
    with pytest.raises(Refused) as caught:
        tenant.plan("cluster.register", **inputs)
    problem = caught.value.problem
    assert (caught.value.status, problem["code"]) == (422, "probe-failed"), problem
    (probed,), (error,) = problem["probes"], problem["errors"]
    assert SECRET not in str(problem)
    return probed, error


def registered(tenant, kafka):
    ended = tenant.run("cluster.register", **kafka.token_registration("tokens"))
    assert ended["state"] == "succeeded", ended
    tenant.cluster_id = ended["cluster_id"]


def create_topic(tenant, name):
    return tenant.run("topic.create", name=name, partitions=1, replication_factor=1)


def let_tokens_expire(issuer):
    """All that were given out until now."""
    time.sleep(max(0.0, max(expiry for _, expiry in issuer.issued) - time.time()) + 1)


def test_it_is_governed_longer_than_a_token_lasts(tenant, kafka, issuer):
    registered(tenant, kafka)
    for number in range(2):
        ended = create_topic(tenant, f"t.tokens-{number}")
        assert ended["state"] == "succeeded", ended
        let_tokens_expire(issuer)
    assert {"t.tokens-0", "t.tokens-1"} <= kafka.admin().list_topics(timeout=10).topics.keys()
    (row,) = [row for row in tenant.get("/clusters")["data"] if row["id"] == tenant.cluster_id]
    assert row["health"] != "unreachable", row


def test_a_wrong_secret_is_said_in_the_words_of_the_endpoint(tenant, kafka):
    inputs = kafka.token_registration("wrong", oauth_client_secret="guessed")
    probed, error = refused(tenant, inputs)
    assert (probed["step"], probed["code"]) == ("login", "token-refused")
    assert "invalid_client" in probed["text"]
    assert error["pointer"] == "/inputs/oauth_client_secret"


def test_a_token_for_another_audience_is_refused_by_the_broker(tenant, kafka, issuer):
    issuer.audience = "another"
    # Another scope is another client to us: no token that is kept serves it.
    probed, error = refused(tenant, kafka.token_registration("another", oauth_scope="another"))
    assert (probed["step"], probed["code"]) == ("login", "SASL_AUTHENTICATION_FAILED")
    assert "invalid_token" in probed["text"]
    assert error["pointer"] == "/inputs/oauth_client_id"


def test_a_token_that_was_kept_and_is_taken_no_more_is_replaced_at_once(kafka, issuer):
    spec = spec_of(kafka, kafka.token_url, scope="kept")
    issuer.audience, right = "another", issuer.audience
    token_of(spec)
    issuer.audience = right
    found = probe(kafka.bootstrap, spec, timeout_s=4.0)
    assert found.ok, found
    assert [scope for scope, _ in issuer.issued].count("kept") == 2


def test_a_token_endpoint_outside_the_policy_is_not_asked(tenant, kafka):
    inputs = kafka.token_registration("inside", oauth_token_url="https://10.0.0.1/token")
    probed, _ = refused(tenant, inputs)
    assert (probed["step"], probed["code"]) == ("login", "token-refused")
    assert "private address" in probed["text"]
    policy = policy_of(["127.0.0.1/32"])
    certificate = kafka.authority.issue("elsewhere", host="127.0.0.2")
    with token_endpoint(certificate, kafka.issuer.answer, host="127.0.0.2") as (url, requests):
        spec = spec_of(kafka, url, egress=policy)
        found = probe(kafka.bootstrap, spec, timeout_s=4.0)
    assert (found.code, requests) == ("token-refused", [])
    assert "loopback" in found.text
    assert probe(kafka.bootstrap, spec_of(kafka, kafka.token_url, egress=policy), timeout_s=4.0).ok


def test_a_secret_that_is_withdrawn_is_replaced(tenant, kafka, issuer):
    registered(tenant, kafka)
    issuer.secrets[CLIENT] = "the next one"
    let_tokens_expire(issuer)
    with pytest.raises(Refused) as caught:
        create_topic(tenant, "t.withdrawn")
    assert caught.value.problem["code"] == "cluster-authentication-failed", caught.value.problem
    assert "invalid_client" in caught.value.problem["detail"]
    inputs = kafka.token_registration("unused", oauth_client_secret="the next one")
    del inputs["name"]
    ended = tenant.run("cluster.credentials", **inputs)
    assert ended["state"] == "succeeded", ended
    assert create_topic(tenant, "t.withdrawn")["state"] == "succeeded"


def spec_of(kafka, token_url, scope="", **changes):
    return ConnectionSpec(
        bootstrap_servers=(kafka.bootstrap,),
        security_protocol="SASL_SSL",
        sasl_mechanism="OAUTHBEARER",
        ca_pem=kafka.ca_file.read_text(),
        oauth=OAuthClient(token_url=token_url, client_id=CLIENT, client_secret=SECRET, scope=scope),
        **changes,
    )


def test_a_connection_that_is_open_logs_in_again_before_its_token_expires(kafka, issuer):
    """The broker ends a connection whose token has expired; one that is asked all the time goes on."""
    gateway = KafkaGateway(spec_of(kafka, kafka.token_url, scope="open"))
    ends_s = time.monotonic() + 3 * LIFETIME_S
    try:
        while time.monotonic() < ends_s:
            assert len(gateway.describe_cluster().brokers) == 1
            time.sleep(0.1)
        assert 3 <= [scope for scope, _ in issuer.issued].count("open") <= 6
        issuer.secrets[CLIENT] = "withdrawn"
        let_tokens_expire(issuer)
        with pytest.raises(GatewayError) as caught:
            gateway.describe_cluster()
    finally:
        gateway.close()
    assert caught.value.code == "token-refused", caught.value
