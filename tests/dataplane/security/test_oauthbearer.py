"""OAUTHBEARER: the client's message, and the two steps of a refusal."""

import pytest

from dataplane.security.oauthbearer import OAuthBearerExchange, parse_message
from dataplane.security.sasl_exchange import Identity, SaslRefusedError


def message(token="a.b.c", header="n,,", extensions=""):
    return f"{header}\x01auth=Bearer {token}\x01{extensions}\x01".encode()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (message(), ("", "a.b.c")),
        (message(header="n,a=al=2Cice,"), ("al,ice", "a.b.c")),
        (b"n,,\x01auth=bEaReR   a.b-_~+/.c==\x01\x01", ("", "a.b-_~+/.c==")),
        (message(extensions="trace=on 1\x01other=\x01"), ("", "a.b.c")),
    ],
)
def test_messages(given, expected):
    parsed = parse_message(given)
    assert parsed == expected
    assert "a.b" not in repr(parsed)


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"n,,",
        b"\x01\x01",
        b"n,,\x01\x01",
        b"n,,\x01auth=Bearer a.b.c\x01",
        b"n,,\x01auth=Basic a.b.c\x01\x01",
        b"n,,\x01auth=Bearer \x01\x01",
        b"n,,\x01auth=Bearer a b\x01\x01",
        b"n,,\x01other=Bearer a.b.c\x01\x01",
        b"n,,x\x01auth=Bearer a.b.c\x01\x01",
        b"p=tls-unique,,\x01auth=Bearer a.b.c\x01\x01",
        b"n,alice,\x01auth=Bearer a.b.c\x01\x01",
        b"n\x01auth=Bearer a.b.c\x01\x01",
        b"n,,\x01auth=Bearer \xff\x01\x01",
        message(extensions="auth=Bearer d.e.f\x01"),
        message(extensions="na1me=x\x01"),
        message(extensions="name=\x00\x01"),
        message(extensions="name\x01"),
    ],
)
def test_malformed_messages(given):
    with pytest.raises(SaslRefusedError) as refused:
        parse_message(given)
    assert "a.b.c" not in str(refused.value)


async def good(token):
    assert token == "a.b.c"
    return Identity("alice", 5)


async def bad(_token):
    raise SaslRefusedError("the token has expired")


async def test_a_good_token_takes_one_step():
    for header in ("n,,", "n,a=alice,"):
        exchange = OAuthBearerExchange(good)
        assert await exchange.step(message(header=header)) == (b"", Identity("alice", 5))


@pytest.mark.parametrize(
    ("validate", "header", "words"),
    [(bad, "n,,", "expired"), (good, "n,a=bob,", "another user")],
)
async def test_a_refusal_takes_two_steps(validate, header, words):
    exchange = OAuthBearerExchange(validate)
    assert await exchange.step(message(header=header)) == (b'{"status": "invalid_token"}', None)
    for second in (b"\x01", message()):
        with pytest.raises(SaslRefusedError, match=words):
            await exchange.step(second)
