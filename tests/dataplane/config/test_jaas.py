"""JAAS lines, and the listeners that need them."""

import pytest

from dataplane.config import BrokerConfig, ConfigError
from dataplane.config.jaas import parse_jaas

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
    assert plain(f'{PLAIN_MODULE} required user_alice="secret";').check_logins() is None


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
    assert BrokerConfig.parse({"sasl.enabled.mechanisms": "GSSAPI"}).check_logins() is None


def test_a_callback_handler_of_ones_own_is_refused():
    with pytest.raises(ConfigError, match="must stay unset"):
        plain(
            f'{PLAIN_MODULE} required user_alice="secret";',
            **{"listener.name.client.plain.sasl.server.callback.handler.class": "com.example.X"},
        ).check_logins()
