"""SCRAM against the test vectors of RFC 7677, and everything that must be refused."""

import base64
import functools
import hashlib
import hmac

import pytest

from dataplane.broker.networking.peer_login import PeerCredentials, ScramClient
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.security.sasl import SaslServerSession, SaslState
from dataplane.security.sasl_exchange import Identity
from dataplane.security.scram import (
    ScramCredential,
    ScramError,
    ScramMechanism,
    ScramServer,
    parse_bootstrap,
)
from dataplane.security.scram_exchange import ScramExchange

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
# RFC 7677, section 3
RFC_SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
RFC_CLIENT_FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
RFC_SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
RFC_SERVER_FIRST = (
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
)
RFC_CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
RFC_SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def rfc_server() -> ScramServer:
    server = ScramServer(SHA_256)
    assert server.client_first(RFC_CLIENT_FIRST) == "user"
    credential = ScramCredential.from_password(SHA_256, "pencil", RFC_SALT, 4096)
    assert server.challenge(credential, RFC_SERVER_NONCE) == RFC_SERVER_FIRST
    return server


def test_rfc_7677_exchange():
    assert rfc_server().finish(RFC_CLIENT_FINAL) == RFC_SERVER_FINAL


@pytest.mark.parametrize(
    "final",
    [
        RFC_CLIENT_FINAL.replace(b"p=dHzb", b"p=dHzc"),
        RFC_CLIENT_FINAL.replace(b"p=dHzbZapW", b"p="),
        RFC_CLIENT_FINAL.replace(b"c=biws", b"c=eSws"),
        RFC_CLIENT_FINAL.replace(b"k0,", b"k1,"),
        RFC_CLIENT_FINAL.replace(b",p=", b",q="),
        RFC_CLIENT_FINAL[:-3] + b"\xff\xff=",
        b"",
        b",p=",
    ],
)
def test_a_wrong_final_message_is_refused(final):
    with pytest.raises(ScramError):
        rfc_server().finish(final)


RFC_NONCE = b"rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
RFC_CLIENT_NONCE = b"rOprNGfwEbeRWgbNEkqO"


def final_with(nonce: bytes) -> bytes:
    """A final message whose proof is right for the nonce that it repeats."""
    without_proof = b"c=biws,r=" + nonce
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", RFC_SALT, 4096)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    message = b",".join((RFC_CLIENT_FIRST[3:], RFC_SERVER_FIRST, without_proof))
    signature = hmac.digest(hashlib.sha256(client_key).digest(), message, "sha256")
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    return without_proof + b",p=" + base64.b64encode(proof)


def test_librdkafka_before_2_6_1_repeats_its_nonce():
    assert final_with(RFC_NONCE) == RFC_CLIENT_FINAL
    answer = rfc_server().finish(final_with(RFC_CLIENT_NONCE + RFC_NONCE))
    assert answer.startswith(b"v=")


@pytest.mark.parametrize(
    "nonce",
    [
        b"",
        RFC_CLIENT_NONCE,
        RFC_CLIENT_NONCE * 2,
        RFC_NONCE.removeprefix(RFC_CLIENT_NONCE),
        b"x" + RFC_NONCE,
        RFC_CLIENT_NONCE * 2 + RFC_NONCE,
        RFC_NONCE + RFC_NONCE,
        RFC_CLIENT_NONCE + RFC_NONCE[:-1],
    ],
)
def test_a_proof_for_another_nonce_is_refused(nonce):
    with pytest.raises(ScramError, match="does not continue"):
        rfc_server().finish(final_with(nonce))


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"n,,",
        b"n,,n=,r=x",
        b"n,,n=user",
        b"n,,n=user,r=",
        b"p=tls-unique,,n=user,r=x",
        b"n,a=other,n=user,r=x",
        b"n,,n=us=er,r=x",
        b"n,,m=ext,n=user,r=x",
        b"n,,n=\xff,r=x",
    ],
)
def test_a_malformed_first_message_is_refused(first):
    with pytest.raises(ScramError):
        ScramServer(SHA_256).client_first(first)


def test_escaped_names_and_own_authorization_id():
    assert ScramServer(SHA_256).client_first(b"n,a=a=2Cb=3D,n=a=2Cb=3D,r=x") == "a,b="


def test_stored_text():
    credential = ScramCredential.from_password(SHA_512, "secret", b"salty", 8192)
    text = credential.to_text()
    assert text.startswith("salt=c2FsdHk=,stored_key=")
    assert text.endswith(",iterations=8192")
    assert ScramCredential.from_text(text) == credential
    assert "stored_key" not in repr(credential)
    for broken in ("", "salt=x", text.replace("iterations=8192", ""), text.replace("c2F", "!!!")):
        with pytest.raises(ValueError):
            ScramCredential.from_text(broken)


def test_bootstrap_list():
    made = ScramCredential.from_password(SHA_256, "pw", b"salt", 4096)
    fields = [base64.b64encode(x).decode() for x in (made.salt, made.stored_key, made.server_key)]
    item = ":".join(["SCRAM-SHA-256", "4096", *fields])
    assert parse_bootstrap(f"admin={item}, broker={item}") == {
        ("admin", SHA_256): made,
        ("broker", SHA_256): made,
    }
    assert parse_bootstrap("") == {}
    for broken in ("admin", f"={item}", item, "admin=SCRAM-MD5:1:a:b:c", "a=SCRAM-SHA-256:1:YQ=="):
        with pytest.raises(ValueError):
            parse_bootstrap(broken)


def session(users, mechanisms=("SCRAM-SHA-256", "SCRAM-SHA-512")) -> SaslServerSession:
    async def lookup(mechanism, username):
        password = users.get(username)
        if password is None:
            return None
        return ScramCredential.from_password(mechanism, password, b"salt", 4096)

    return SaslServerSession(
        {
            name: functools.partial(
                ScramExchange,
                ScramMechanism.from_sasl_name(name),
                lookup,
                FakeEntropy(),
                decoy_secret=b"d" * 32,
            )
            for name in mechanisms
        }
    )


async def log_in(server: SaslServerSession, username: str, password: str, mechanism: str) -> None:
    client = ScramClient(PeerCredentials(username, password, mechanism), "clientnonce")
    server.handshake(mechanism)
    challenge = await server.authenticate(client.first())
    client.verify(await server.authenticate(client.final(challenge)))


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("username", ["alice", "a,b=c", "ünï"])
async def test_a_broker_logs_in_at_its_peer(mechanism, username):
    server = session({username: "pässword"})
    await log_in(server, username, "pässword", mechanism)
    assert server.state is SaslState.COMPLETE
    assert server.identity == Identity(username)


class AsToken(ScramClient):
    """Says that its user name is a delegation token's."""

    def __init__(self, credentials, nonce):
        super().__init__(credentials, nonce)
        self._first_bare += ",tokenauth=true"


async def test_a_user_is_no_token():
    server = session({"alice": "secret"})
    client = AsToken(PeerCredentials("alice", "secret"), "clientnonce")
    server.handshake("SCRAM-SHA-256")
    final = client.final(await server.authenticate(client.first()))
    with pytest.raises(KafkaError, match="invalid credentials"):
        await server.authenticate(final)


@pytest.mark.parametrize(("username", "password"), [("alice", "wrong"), ("nobody", "secret")])
async def test_a_wrong_password_and_an_unknown_user_look_the_same(username, password):
    server = session({"alice": "secret"})
    with pytest.raises(KafkaError) as refused:
        await log_in(server, username, password, "SCRAM-SHA-256")
    assert refused.value.code is ErrorCode.SASL_AUTHENTICATION_FAILED
    assert refused.value.message.endswith("invalid credentials")
    assert server.state is SaslState.FAILED
    assert server.identity is None


async def test_the_challenge_for_an_unknown_user_does_not_change():
    salts = set()
    for _ in range(2):
        server = session({})
        server.handshake("SCRAM-SHA-256")
        answer = await server.authenticate(b"n,,n=ghost,r=x")
        salts.add(answer.split(b",")[1])
    assert len(salts) == 1


@pytest.mark.parametrize("mechanism", ["PLAIN", "GSSAPI", "SCRAM-SHA-512", ""])
def test_a_mechanism_that_is_not_enabled(mechanism):
    server = session({}, mechanisms=("SCRAM-SHA-256",))
    with pytest.raises(KafkaError) as refused:
        server.handshake(mechanism)
    assert refused.value.code is ErrorCode.UNSUPPORTED_SASL_MECHANISM
    assert server.state is SaslState.FAILED


async def test_steps_out_of_order():
    server = session({"alice": "secret"})
    with pytest.raises(KafkaError) as refused:
        await server.authenticate(b"n,,n=alice,r=x")
    assert refused.value.code is ErrorCode.ILLEGAL_SASL_STATE
    server = session({"alice": "secret"})
    server.handshake("SCRAM-SHA-256")
    with pytest.raises(KafkaError) as refused:
        server.handshake("SCRAM-SHA-256")
    assert refused.value.code is ErrorCode.ILLEGAL_SASL_STATE
    server = session({"alice": "secret"})
    await log_in(server, "alice", "secret", "SCRAM-SHA-256")
    with pytest.raises(KafkaError) as refused:
        await server.authenticate(b"n,,n=alice,r=x")
    assert refused.value.code is ErrorCode.ILLEGAL_SASL_STATE


async def test_a_failed_exchange_cannot_be_resumed():
    server = session({"alice": "secret"})
    server.handshake("SCRAM-SHA-256")
    for _ in range(2):
        with pytest.raises(KafkaError):
            await server.authenticate(b"nonsense")
    assert server.state is SaslState.FAILED


async def test_oversized_tokens_are_refused_unread():
    server = session({})
    server.handshake("SCRAM-SHA-256")
    with pytest.raises(KafkaError, match="too long"):
        await server.authenticate(b"n,,n=alice,r=" + b"x" * 70_000)
