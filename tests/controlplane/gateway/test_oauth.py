"""Tokens by client credentials, from a real endpoint over TLS."""

import base64
import logging
import time

import pytest

from controlplane.gateway import oauth
from controlplane.gateway.connection_spec import ConnectionSpec, OAuthClient
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.oauth import ANSWER_MAX_BYTES, TokenProvider, forget_token, token_of
from tests.certificates import Authority
from tests.controlplane.gateway.token_endpoint import token_endpoint


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"), "authority")


@pytest.fixture(scope="module")
def certificate(authority):
    return authority.issue("endpoint")


@pytest.fixture
def made(authority, certificate):
    return authority, certificate


def spec_for(url, authority, **client):
    values = {"client_id": "pen:stock", "client_secret": "s3cr&t/", "scope": "kafka read"}
    return ConnectionSpec(
        bootstrap_servers=("127.0.0.1:1",),
        security_protocol="SASL_SSL",
        sasl_mechanism="OAUTHBEARER",
        ca_pem=authority.file.read_text(),
        oauth=OAuthClient(token_url=url, **{**values, **client}),
    )


def test_a_token_is_asked_for_as_the_rfc_says_and_kept(authority, certificate):
    answer = (200, {"access_token": "tok-1", "token_type": "Bearer", "expires_in": 300})
    with token_endpoint(certificate, [answer]) as (url, requests):
        spec = spec_for(url, authority)
        assert TokenProvider(spec).token() == "tok-1"
        assert TokenProvider(spec).token() == "tok-1"
    ((path, headers, body),) = requests
    assert path == "/oauth/token?realm=a"
    assert body == "grant_type=client_credentials&scope=kafka+read"
    scheme, _, encoded = headers["Authorization"].partition(" ")
    assert (scheme, base64.b64decode(encoded)) == ("Basic", b"pen%3Astock:s3cr%26t%2F")


def test_a_token_is_renewed_before_it_expires(authority, certificate, monkeypatch):
    answers = [(200, {"access_token": f"tok-{n}", "expires_in": 100}) for n in range(2)]
    with token_endpoint(certificate, answers) as (url, requests):
        spec = spec_for(url, authority)
        began_s = time.monotonic()
        assert token_of(spec) == "tok-0"
        monkeypatch.setattr(oauth.time, "monotonic", lambda: began_s + 79)
        assert token_of(spec) == "tok-0"
        monkeypatch.setattr(oauth.time, "monotonic", lambda: began_s + 85)
        assert token_of(spec) == "tok-1"
    assert len(requests) == 2


def test_a_token_that_a_broker_refused_is_not_shown_again(authority, certificate):
    answers = [(200, {"access_token": f"tok-{n}", "expires_in": 100}) for n in range(2)]
    with token_endpoint(certificate, answers) as (url, _):
        spec = spec_for(url, authority)
        assert token_of(spec) == "tok-0"
        forget_token(spec.oauth)
        assert token_of(spec) == "tok-1"


@pytest.mark.parametrize(
    ("answer", "said", "retriable"),
    [
        ((401, {"error": "invalid_client"}), r"answered 401 \(invalid_client\)$", False),
        ((400, {"error": "<b>mine</b>"}), "answered 400$", False),
        ((400, {"error": ["invalid_client"]}), "answered 400$", False),
        ((400, b"[1]"), "answered 400$", False),
        ((503, b""), "answered 503", True),
        ((302, b""), "answered 302", False),
        ((200, b"<html>"), "without a token", False),
        ((200, b"[" * 50_000), "without a token", False),
        ((200, {"access_token": 7}), "without a token", False),
        ((200, {"access_token": "a\x01auth=b"}), "without a token", False),
        ((200, {"access_token": ""}), "without a token", False),
        ((200, b'{"access_token": "' + b"x" * ANSWER_MAX_BYTES + b'"}'), "without a token", False),
    ],
)
def test_whatever_is_no_token_is_refused(made, caplog, answer, said, retriable):
    authority, certificate = made
    caplog.set_level(logging.DEBUG)
    with (
        token_endpoint(certificate, [answer]) as (url, requests),
        pytest.raises(GatewayError, match=said) as caught,
    ):
        token_of(spec_for(url, authority))
    assert (caught.value.code, caught.value.retriable) == ("token-refused", retriable)
    assert len(requests) == 1, "no redirect is followed"
    assert "s3cr" not in caplog.text + str(caught.value)


def test_an_endpoint_of_another_authority_gets_no_secret(authority, certificate, tmp_path):
    stranger = Authority(tmp_path, "stranger")
    with (
        token_endpoint(certificate, [(200, {"access_token": "t"})]) as (url, requests),
        pytest.raises(GatewayError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        token_of(spec_for(url, stranger))
    assert requests == []


def test_neither_token_nor_secret_is_in_what_is_printed(authority):
    spec = spec_for("https://example.org/token", authority)
    assert "s3cr" not in repr(spec)
    assert "hunter2" not in repr(ConnectionSpec(bootstrap_servers=("a:1",), password="hunter2"))
