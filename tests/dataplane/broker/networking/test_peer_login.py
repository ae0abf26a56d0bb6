"""The client side of SCRAM, against RFC 7677's example and against our own server side."""

import base64

import pytest

from dataplane.broker.networking.peer_login import PeerCredentials, ScramClient

SERVER_FIRST = (
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
)
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def client(**options: str) -> ScramClient:
    return ScramClient(PeerCredentials("user", "pencil", **options), "rOprNGfwEbeRWgbNEkqO")


def test_the_rfc_s_example() -> None:
    asked = client()
    assert asked.first() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert asked.final(SERVER_FIRST) == CLIENT_FINAL
    asked.verify(SERVER_FINAL)


def test_a_server_that_does_not_know_the_credential_is_found_out() -> None:
    asked = client()
    asked.final(SERVER_FIRST)
    with pytest.raises(ValueError, match="signature"):
        asked.verify(b"v=" + base64.b64encode(bytes(32)))


@pytest.mark.parametrize(
    "challenge",
    [
        b"r=another,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        b"r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=0",
        b"r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=999999999",
    ],
)
def test_an_unfit_challenge_is_refused(challenge: bytes) -> None:
    with pytest.raises(ValueError, match="challenge"):
        client().final(challenge)


def test_names_are_escaped() -> None:
    asked = ScramClient(PeerCredentials("a=b,c", "x"), "n")
    assert asked.first() == b"n,,n=a=3Db=2Cc,r=n"
