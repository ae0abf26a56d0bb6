"""Which fields of a way in fit each other, and in what form they are kept."""

import datetime as dt

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from controlplane.clusters.connections import connection_spec
from controlplane.clusters.credentials import expired, kept, misfits
from controlplane.clusters.models import Cluster
from controlplane.common.crypto import unseal
from controlplane.common.problems import Problem
from tests.certificates import Authority, split_pem

SCRAM = {"sasl_mechanism": "SCRAM-SHA-512", "username": "u", "password": "p"}
TOKENS = {
    "sasl_mechanism": "OAUTHBEARER",
    "oauth_token_url": "https://id.example/token",
    "oauth_client_id": "c",
    "oauth_client_secret": "s",
}


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"), "authority")


@pytest.fixture(scope="module")
def own(authority):
    return split_pem(authority.issue("penstock", host=""))


@pytest.mark.parametrize(
    ("protocol", "given", "wrong"),
    [
        ("PLAINTEXT", {}, set()),
        ("SSL", {}, set()),
        ("SASL_PLAINTEXT", SCRAM, set()),
        ("SASL_SSL", {**SCRAM, "sasl_mechanism": "PLAIN"}, set()),
        ("SASL_SSL", TOKENS, set()),
        ("SASL_SSL", {**TOKENS, "oauth_scope": "kafka"}, set()),
        ("SASL_SSL", {}, {"sasl_mechanism"}),
        ("PLAINTEXT", SCRAM, {"sasl_mechanism"}),
        ("SASL_SSL", {**SCRAM, "password": ""}, {"password"}),
        ("SASL_SSL", {**SCRAM, "oauth_scope": "kafka"}, {"oauth_scope"}),
        ("SASL_SSL", {"sasl_mechanism": "OAUTHBEARER"}, set(TOKENS) - {"sasl_mechanism"}),
        ("SASL_SSL", {**TOKENS, "username": "u"}, {"username"}),
        ("PLAINTEXT", {"ca_pem": "x"}, {"ca_pem"}),
        ("SASL_PLAINTEXT", {**SCRAM, "ca_pem": "x"}, {"ca_pem"}),
        ("SSL", {"password": "p"}, {"password"}),
        ("SSL", {"ca_pem": "x"}, {"ca_pem"}),
        ("SSL", {"client_certificate_pem": "x"}, {"client_key_pem"}),
        ("SSL", {"client_key_pem": "x"}, {"client_certificate_pem"}),
        (
            "SSL",
            {"client_key_pem": "x", "client_certificate_pem": "x"},
            {"client_key_pem", "client_certificate_pem"},
        ),
    ],
)
def test_each_way_in_has_its_fields(protocol, given, wrong):
    assert set(misfits({"security_protocol": protocol, **given})) == wrong


def test_a_key_that_is_not_the_certificate_s_or_has_a_password_is_refused(authority, own):
    key, certificate = own
    given = {"security_protocol": "SSL", "client_certificate_pem": certificate}
    assert misfits({**given, "client_key_pem": key}) == {}
    other, _ = split_pem(authority.issue("other", host=""))
    assert "not the key" in misfits({**given, "client_key_pem": other})["client_key_pem"]
    sealed, _ = split_pem(authority.issue("sealed", password="hunter2"))
    assert "with a password" in misfits({**given, "client_key_pem": sealed})["client_key_pem"]


def test_a_key_is_kept_in_the_form_that_every_client_reads():
    key = ec.generate_private_key(ec.SECP256R1())
    traditional = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()
    assert "BEGIN EC PRIVATE KEY" in traditional
    found = kept({"client_key_pem": traditional, "username": "in its own column"})
    assert set(found) == {"client_key_pem"}
    assert "BEGIN PRIVATE KEY" in found["client_key_pem"]


def test_an_expired_certificate_is_known(authority):
    now = dt.datetime.now(dt.UTC)
    _, old = split_pem(authority.issue("old", ends_in_h=-1))
    _, good = split_pem(authority.issue("good"))
    assert expired(old, now)
    assert not expired(good, now)


def test_what_is_registered_is_what_the_gateway_gets(world, authority, own):
    key, certificate = own
    given = {
        **TOKENS,
        "security_protocol": "SASL_SSL",
        "ca_pem": authority.file.read_text(),
        "client_certificate_pem": certificate,
        "client_key_pem": key,
        "oauth_scope": "kafka",
    }
    operation = world.run(
        "cluster.register", None, name="old", bootstrap_servers="a:1,b:2", **given
    )
    assert operation.state == "succeeded"
    stored = str([operation.plan.inputs, operation.plan.diff, operation.plan.impact])
    assert "PRIVATE KEY" not in stored
    assert "oauth_client_secret" not in stored
    cluster = Cluster.objects.get(pk=operation.cluster_id)
    assert set(unseal(cluster.secrets_token)) == set(given) - {
        "security_protocol",
        "sasl_mechanism",
    }
    spec = connection_spec(cluster)
    assert spec.bootstrap_servers == ("a:1", "b:2")
    assert (spec.oauth.client_id, spec.oauth.client_secret, spec.oauth.scope) == ("c", "s", "kafka")
    assert spec.ca_pem == authority.file.read_text().strip()
    assert spec.client_certificate_pem == certificate.strip()
    assert "BEGIN PRIVATE KEY" in spec.client_key_pem


def test_a_field_that_does_not_fit_is_named(world):
    with pytest.raises(Problem) as caught:
        world.plan("cluster.register", None, name="old", bootstrap_servers="a:1", ca_pem="x")
    assert [row["pointer"] for row in caught.value.errors] == ["/inputs/ca_pem"]


@pytest.mark.parametrize(
    "url",
    ["http://id.example/t", "https://u:p@id.example/t", "https://id.example/t#x", "https://", "x"],
)
def test_a_token_endpoint_is_an_https_url_and_nothing_else(world, url):
    given = {**TOKENS, "security_protocol": "SASL_SSL", "oauth_token_url": url}
    with pytest.raises(Problem) as caught:
        world.plan("cluster.register", None, name="old", bootstrap_servers="a:1", **given)
    assert [row["pointer"] for row in caught.value.errors] == ["/inputs/oauth_token_url"]


@pytest.mark.parametrize("field", ["username", "password"])
def test_a_login_has_no_control_characters(world, field):
    given = {**SCRAM, "security_protocol": "SASL_SSL", field: 'x"\n; evil required'}
    with pytest.raises(Problem) as caught:
        world.plan("cluster.register", None, name="old", bootstrap_servers="a:1", **given)
    assert [row["pointer"] for row in caught.value.errors] == [f"/inputs/{field}"]


@pytest.mark.parametrize(("mechanism", "said"), [("PLAIN", True), ("SCRAM-SHA-256", False)])
def test_a_login_that_can_be_overheard_is_said(world, mechanism, said):
    given = {**SCRAM, "sasl_mechanism": mechanism, "security_protocol": "SASL_PLAINTEXT"}
    plan = world.plan("cluster.register", None, name="old", bootstrap_servers="a:1", **given)
    assert ("in-the-clear" in {row["code"] for row in plan.impact["warnings"]}) is said
