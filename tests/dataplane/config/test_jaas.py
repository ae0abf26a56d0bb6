"""JAAS lines, and the listeners that need them."""

import pytest

from dataplane.config import BrokerConfig, ConfigError
from dataplane.config.jaas import parse_jaas
from dataplane.config.sasl import plain_users, token_settings

PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
LISTENERS = {
    "listeners": "CLIENT://127.0.0.1:9092,PEERS://127.0.0.1:9093",
    "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,PEERS:PLAINTEXT",
    "inter.broker.listener.name": "PEERS",
}
JAAS = "listener.name.client.plain.sasl.jaas.config"


def test_a_line_has_a_module_and_options():
    entry = parse_jaas(f"{PLAIN_MODULE} required username=\"a\" user_a='s p;=c' \n user_b=x.y-z ;")
    assert entry.module == PLAIN_MODULE
    assert entry.options == {"username": "a", "user_a": "s p;=c", "user_b": "x.y-z"}
    assert "x.y-z" not in repr(entry)


def test_quotes_hold_escapes():
    assert parse_jaas(r'm required a="q\"\\x" "user_a b"="c";').options == {
        "a": 'q"\\x',
        "user_a b": "c",
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "m;",
        "m required",
        "m sometimes a=b;",
        'm required a="hunter2;',
        "m required a=;",
        "m required =b;",
        "m required a b;",
        "m required a=b c;",
        "m required a=b; n required c=d;",
    ],
)
def test_anything_else_is_refused_without_showing_it(text):
    with pytest.raises(ValueError) as refused:
        parse_jaas(text)
    assert "hunter2" not in str(refused.value)


def plain(jaas=None, **settings):
    given = {"sasl.enabled.mechanisms": "PLAIN"} | settings
    return BrokerConfig.parse(LISTENERS | given | ({JAAS: jaas} if jaas is not None else {}))


def test_plain_with_users_is_served():
    config = plain(f'{PLAIN_MODULE} required username="me" user_alice="secret";')
    config.check_logins()
    assert plain_users(config, "CLIENT") == {"alice": "secret"}


@pytest.mark.parametrize(
    ("jaas", "words"),
    [
        (None, "must be set"),
        (f"{PLAIN_MODULE} required user_alice=hunter2", "semicolon"),
        ("org.apache.kafka.common.security.scram.ScramLoginModule required;", PLAIN_MODULE),
        (f'{PLAIN_MODULE} required user_="hunter2";', "user_NAME"),
        (f'{PLAIN_MODULE} required user_hunter2="";', "user_NAME"),
    ],
)
def test_plain_without_users_is_refused(jaas, words):
    with pytest.raises(ConfigError) as refused:
        plain(jaas).check_logins()
    assert refused.value.key == JAAS
    assert words in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_key_without_the_mechanism_counts_for_nobody():
    for key in ("sasl.jaas.config", "listener.name.client.sasl.jaas.config"):
        with pytest.raises(ConfigError, match="must be set"):
            plain(None, **{key: f'{PLAIN_MODULE} required user_a="b";'}).check_logins()


@pytest.mark.parametrize(
    "mechanisms", ["GSSAPI", "SCRAM-SHA-256,GSSAPI", "SCRAM-SHA-1", "plain", "", None]
)
def test_a_mechanism_that_is_not_served_is_refused(mechanisms):
    settings = {} if mechanisms is None else {"sasl.enabled.mechanisms": mechanisms}
    with pytest.raises(ConfigError) as refused:
        BrokerConfig.parse(LISTENERS | settings).check_logins()
    assert refused.value.key == "sasl.enabled.mechanisms"
    assert "CLIENT" in str(refused.value)


def test_each_listener_has_its_own_mechanisms():
    settings = {
        "sasl.enabled.mechanisms": "GSSAPI",
        "listener.name.client.sasl.enabled.mechanisms": "SCRAM-SHA-512",
    }
    BrokerConfig.parse(LISTENERS | settings).check_logins()
    with pytest.raises(ConfigError, match="PEERS"):
        BrokerConfig.parse(
            LISTENERS
            | settings
            | {"listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,PEERS:SASL_SSL"}
        ).check_logins()


def test_without_a_sasl_listener_the_mechanisms_do_not_matter():
    config = BrokerConfig.parse({"sasl.enabled.mechanisms": "GSSAPI"})
    config.check_logins()
    assert config.get_list("sasl.enabled.mechanisms") == ("GSSAPI",)


def test_a_callback_handler_of_ones_own_is_refused():
    validator = f"{VALIDATORS}OAuthBearerValidatorCallbackHandler"
    with pytest.raises(ConfigError, match="callback handler"):
        plain(
            f'{PLAIN_MODULE} required user_alice="secret";',
            **{"listener.name.client.plain.sasl.server.callback.handler.class": validator},
        ).check_logins()


URL = "sasl.oauthbearer.jwks.endpoint.url"
HANDLER = "listener.name.client.oauthbearer.sasl.server.callback.handler.class"
VALIDATORS = "org.apache.kafka.common.security.oauthbearer."


def bearer(**settings):
    given = {"sasl.enabled.mechanisms": "OAUTHBEARER"} | settings
    config = BrokerConfig.parse(LISTENERS | given)
    config.check_logins()
    return token_settings(config, "CLIENT")


@pytest.mark.parametrize(
    "url", ["https://issuer/keys", "file:///etc/keys.json", "http://127.0.0.1:1/", "http://[::1]/"]
)
def test_keys_of_tokens_come_by_a_safe_way(url):
    scoped = f"listener.name.client.oauthbearer.{URL}"
    assert bearer(**{scoped: url, URL: "ftp://nowhere"}).jwks_url == url
    secured = f"{VALIDATORS}secured.OAuthBearerValidatorCallbackHandler"
    assert bearer(**{URL: url, HANDLER: secured}).jwks_url == url


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "keys.json",
        "file://other/etc/keys",
        "http://issuer/keys",
        "http://127.0.0.1.evil/",
        "https://",
        "https://[",
        "ftp://127.0.0.1/",
    ],
)
def test_other_ways_are_refused(url):
    with pytest.raises(ConfigError) as refused:
        bearer(**({} if url is None else {URL: url}))
    assert refused.value.key == URL


def test_unsigned_tokens_have_to_be_asked_for_by_name():
    name = f"{VALIDATORS}internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
    assert bearer(**{HANDLER: name}).jwks_url is None
    with pytest.raises(ConfigError, match="must stay unset"):
        bearer(**{HANDLER: "com.example.Validator", URL: "https://issuer/keys"})


def test_numbers_that_kafka_does_not_bound_have_a_least():
    settings = bearer(
        **{
            URL: "https://issuer/keys",
            "sasl.oauthbearer.clock.skew.seconds": "-5",
            "sasl.oauthbearer.jwks.endpoint.refresh.ms": "0",
            "sasl.oauthbearer.expected.audience": "a, b",
        }
    )
    assert (settings.clock_skew_ms, settings.refresh_ms) == (0, 1000)
    assert settings.audiences == {"a", "b"}
    assert settings.issuer is None
