"""PLAIN: what is taken, and everything that is refused."""

import pytest

from dataplane.security.plain import PlainExchange
from dataplane.security.sasl_exchange import Identity, SaslRefusedError

USERS = {"alice": "secret", "ünï": "pässword"}


@pytest.mark.parametrize(
    ("token", "name"),
    [
        (b"\0alice\0secret", "alice"),
        (b"alice\0alice\0secret", "alice"),
        ("\0ünï\0pässword".encode(), "ünï"),
    ],
)
async def test_the_right_password_is_taken(token, name):
    assert await PlainExchange(USERS).step(token) == (b"", Identity(name))


@pytest.mark.parametrize(
    ("token", "words"),
    [
        (b"", "expected 3 parts, got 1"),
        (b"alice\0secret", "expected 3 parts, got 2"),
        (b"\0alice\0secret\0", "expected 3 parts, got 4"),
        (b"\0\0secret", "no user name"),
        (b"\0alice\0", "no password"),
        (b"\0alice\0\xff", "UTF-8"),
        (b"\0alice\0Secret", "invalid credentials"),
        (b"\0alice\0secret ", "invalid credentials"),
        (b"\0Alice\0secret", "invalid credentials"),
        (b"\0nobody\0secret", "invalid credentials"),
        (b"admin\0alice\0secret", "another user"),
        (b"admin\0alice\0wrong", "invalid credentials"),
    ],
)
async def test_anything_else_is_refused(token, words):
    exchange = PlainExchange(USERS)
    with pytest.raises(SaslRefusedError, match=words):
        await exchange.step(token)


async def test_no_users_means_nobody():
    for password in (b"", b"x"):
        with pytest.raises(SaslRefusedError):
            await PlainExchange({}).step(b"\0alice\0" + password)


async def test_a_refusal_shows_no_password():
    with pytest.raises(SaslRefusedError) as refused:
        await PlainExchange(USERS).step(b"\0alice\0hunter2")
    assert "hunter2" not in str(refused.value)
