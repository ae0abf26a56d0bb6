"""The client's side of SASL DIGEST-MD5: RFC 2831's own example, and servers that do not play by it."""

from __future__ import annotations

import pytest

from zookeeper_access.digest_md5 import CHALLENGE_BYTES_MAX, DigestMd5, DigestMd5Error, parse

CHALLENGE = (
    b'realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",'
    b"algorithm=md5-sess,charset=utf-8"
)
RSPAUTH = b"rspauth=ea40f60335c427b5527b84dbabcdfffd"


def exchange(password="secret"):
    return DigestMd5("chris", password, cnonce="OA6MHXh6VqTrRk", uri="imap/elwood.innosoft.com")


def test_the_example_of_the_rfc():
    login = exchange()
    response = parse(login.respond(CHALLENGE))
    assert response["response"] == "d388dad90d4bbd760a152321f2143af7"
    assert response["username"] == "chris"
    assert response["nc"] == "00000001"
    login.verify(RSPAUTH)


def test_neither_the_password_nor_its_hash_travels():
    sent = exchange("correct horse").respond(CHALLENGE)
    assert b"correct horse" not in sent


@pytest.mark.parametrize(
    "answer",
    [b"", b"rspauth=", b"rspauth=00000000000000000000000000000000", b"realm=x", b"\xff", b"no"],
)
def test_a_server_that_does_not_know_the_password_is_refused(answer):
    login = exchange()
    login.respond(CHALLENGE)
    with pytest.raises(DigestMd5Error):
        login.verify(answer)


def test_an_answer_without_a_challenge_before_it_proves_nothing():
    with pytest.raises(DigestMd5Error):
        exchange().verify(b"rspauth=")


@pytest.mark.parametrize(
    ("challenge", "why"),
    [
        (b"", "no nonce"),
        (b'nonce="a"', "md5-sess"),
        (b'nonce="a",algorithm=md5', "md5-sess"),
        (b'nonce="a",algorithm=md5-sess,qop="auth-conf"', "more than authentication"),
        (b'nonce="a",nonce="b",algorithm=md5-sess', "twice"),
        (b'nonce="a', "NAME=VALUE"),
        (b"\xff\xfe", "UTF-8"),
        (b'nonce="' + b"a" * CHALLENGE_BYTES_MAX + b'"', "bytes"),
    ],
)
def test_a_challenge_that_is_none_is_refused(challenge, why):
    with pytest.raises(DigestMd5Error, match=why):
        exchange().respond(challenge)


def test_quotes_and_commas_inside_values_are_kept():
    assert parse(rb'a="x,\"y\"=z" , b=c') == {"a": 'x,"y"=z', "b": "c"}
