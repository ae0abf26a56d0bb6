"""A real broker with every kind of secret, at its finest log level: where is one of them in clear?

Each secret is used rightly, wrongly and in the wrong place. Then everything that the broker has said
or stored is looked through, for each secret as it is, in base64 and in hexadecimal: its logs and
audit log, its metrics, what it answers to DescribeConfigs, its error messages, its log directory,
and ZooKeeper's tree and files. The file that it was configured by holds what it was given.
"""

from __future__ import annotations

import base64
import dataclasses
import logging
import pathlib
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from dataplane.broker.networking.peer_login import PeerCredentials, ScramClient
from dataplane.config import BROKER_CONFIGS, ConfigType
from dataplane.model.errors import ErrorCode as E
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from dataplane.wire.apis import ApiKey, load
from tests.certificates import Authority
from tests.conformance.conftest import scram_credential
from tests.conformance.raw_client import ask, connected
from tests.conformance.test_sasl_mechanisms import (
    AUDIENCE,
    ISSUER,
    PLAIN_MODULE,
    Issuer,
    authenticate,
    log_in_by_token,
)
from tests.dataplane.handlers.test_thread_counts import incremental, replacing
from tests.ports import free_row
from zookeeper_access import keys
from zookeeper_access.client import AccessClient
from zookeeper_access.settings import Login, ZooKeeperAccess

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]

ROOT = pathlib.Path(__file__).resolve().parents[2]
ZOOKEEPER_USERS = {"super": "zk-super-7Qp", "member": "zk-member-8Rt"}
SECRETS = {
    "PLAIN password": "plain-pass-3Kd!",
    "PLAIN password of another": "plain-other-9Lm!",
    "SCRAM password": "scram-pass-4Vx!",
    "wrong password": "wrong-pass-5Wz!",
    "brokers' password": "peer-pass-6Ab!",
    "key of the tokens": "token-master-7Cd!",
    "password of the key": "key-pass-8Ef!",
    "ZooKeeper's SASL": ZOOKEEPER_USERS["member"],
    "ZooKeeper's digest": "zk-digest-9Gh!",
    "a setting": "setting-pass-2Jk!",
    "SCRAM salted password": "salted-pass-1234-5678-9012-3456!",
}
FINEST = (
    "import logging, runpy, sys;"
    "[logging.getLogger(name).setLevel(5) for name in ('dataplane', 'zookeeper_access')];"
    "runpy.run_module('dataplane', run_name='__main__', alter_sys=True)"
)
PASSWORD_KEYS = sorted(n for n, key in BROKER_CONFIGS.items() if key.type is ConfigType.PASSWORD)


@dataclasses.dataclass
class Said:
    """A broker, and what it has said to its clients."""

    directory: pathlib.Path
    zookeeper: EmbeddedZooKeeper
    issuer: Issuer
    bootstrap: str
    metrics_url: str
    process: subprocess.Popen[str]
    brokers: int = 1
    answers: list[Any] = dataclasses.field(default_factory=list)
    made: dict[str, bytes] = dataclasses.field(default_factory=dict)

    def ask(self, sock: socket.socket, api: ApiKey, version: int, **fields: Any) -> Any:
        answer = ask(sock, load(api)[0](**fields), version)
        self.answers.append(answer)
        return answer


def settings(
    directory: pathlib.Path, zookeeper: str, issuer: Issuer, ports: range
) -> dict[str, str]:
    authority = Authority(directory, "authority")
    sealed = authority.issue("broker", password=SECRETS["password of the key"])
    peer = SECRETS["brokers' password"]
    known = {"admin": "PLAIN password", "other": "PLAIN password of another"}
    users = f'username="peer" password="{peer}" user_peer="{peer}" ' + " ".join(
        f'user_{user}="{SECRETS[name]}"' for user, name in known.items()
    )
    return {
        "broker.id": "0",
        "listeners": f"SASL_PLAINTEXT://127.0.0.1:{ports[0]},SASL_SSL://127.0.0.1:{ports[1]}",
        "log.dirs": str(directory / "data"),
        "zookeeper.connect": f"{zookeeper}/one",
        keys.SASL_USERNAME: "member",
        keys.SASL_PASSWORD: SECRETS["ZooKeeper's SASL"],
        keys.ACL_USERNAME: "one",
        keys.ACL_PASSWORD: SECRETS["ZooKeeper's digest"],
        keys.SET_ACL: "true",
        "offsets.topic.replication.factor": "1",
        "penstock.metrics.port": str(ports[2]),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        "inter.broker.listener.name": "SASL_PLAINTEXT",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "penstock.inter.broker.username": "peer",
        "penstock.inter.broker.password": SECRETS["brokers' password"],
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:admin;User:peer",
        "penstock.bootstrap.scram": scram_credential("admin", SECRETS["SCRAM password"]),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(sealed),
        "ssl.key.password": SECRETS["password of the key"],
        "delegation.token.secret.key": SECRETS["key of the tokens"],
        "sasl.oauthbearer.jwks.endpoint.url": issuer.url,
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "connection.failed.authentication.delay.ms": "0",
        "penstock.audit.log.file": str(directory / "audit.log"),
        **{
            f"listener.name.{name}.plain.sasl.jaas.config": f"{PLAIN_MODULE} required {users};"
            for name in ("sasl_plaintext", "sasl_ssl")
        },
    }


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Said]:
    directory = tmp_path_factory.mktemp("secrets")
    zookeeper = EmbeddedZooKeeper(directory / "zookeeper", fsync=False, users=ZOOKEEPER_USERS)
    issuer = Issuer()
    first = free_row(3)
    ports = range(first, first + 3)
    zookeeper.start()
    given = settings(directory, zookeeper.connect_string, issuer, ports)
    file = directory / "broker.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in given.items()))
    with (directory / "broker.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", FINEST, "broker", "--config", str(file)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert process.stdout is not None
            started = process.stdout.readline()
            assert started.startswith("started"), (directory / "broker.log").read_text()[-3000:]
            broker = Said(
                directory,
                zookeeper,
                issuer,
                f"127.0.0.1:{ports[0]}",
                f"http://127.0.0.1:{ports[2]}/metrics",
                process,
            )
            use(broker)
            yield broker
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(30)
            zookeeper.stop()
            issuer.server.shutdown()
            issuer.server.server_close()


# -- every secret used: rightly, wrongly, and where it does not belong


def use(broker: Said) -> None:
    with connected(broker) as admin:  # type: ignore[arg-type]  # as much of a cluster as it asks
        _log_in(broker, admin, "PLAIN", f"\0admin\0{SECRETS['PLAIN password']}".encode())
        _configure(broker, admin)
        _credentials(broker, admin)
        _tokens(broker, admin)
    _logins(broker)
    _broken_logins(broker)


def _log_in(broker: Said, sock: socket.socket, mechanism: str, token: bytes) -> Any:
    broker.ask(sock, ApiKey.SASL_HANDSHAKE, 1, mechanism=mechanism)
    answer = authenticate(sock, token)
    broker.answers.append(answer)
    return answer


def _configure(broker: Said, admin: socket.socket) -> None:
    """Where secrets belong, and under a name that nobody knows; refused or not."""
    changed = ["no.such.key", *PASSWORD_KEYS]
    changed += ["listener.name.sasl_ssl.ssl.key.password"]
    for key in changed:
        for make in (incremental, replacing):
            for entity in ("", "0"):
                broker.answers.append(
                    ask(admin, make(entity, key, SECRETS["a setting"], dry=False), 1)
                )
    for kind, name in ((4, "0"), (4, ""), (8, "0")):
        request_class = load(ApiKey.DESCRIBE_CONFIGS)[0]
        resource = _part(request_class, "DescribeConfigsResource")
        answer = broker.ask(
            admin,
            ApiKey.DESCRIBE_CONFIGS,
            4,
            resources=[resource(resource_type=kind, resource_name=name, configuration_keys=None)],
            include_synonyms=True,
            include_documentation=True,
        )
        assert answer.results[0].error_code == E.NONE
        shown = {each.name: each for each in answer.results[0].configs}
        if kind == 8:
            levels = {shown[name].value for name in shown if name.startswith("dataplane")}
            assert levels == {"TRACE"}
        elif name:
            assert shown["ssl.key.password"].is_sensitive
            assert len(shown.keys() & set(PASSWORD_KEYS)) > 10


def _part(request_class: type, name: str) -> Any:
    return getattr(sys.modules[request_class.__module__], name)


def _credentials(broker: Said, admin: socket.socket) -> None:
    salted = SECRETS["SCRAM salted password"].encode()
    assert len(salted) == 32
    upsertion = _part(load(ApiKey.ALTER_USER_SCRAM_CREDENTIALS)[0], "ScramCredentialUpsertion")
    for user, iterations in (("alice", 4096), ("", 4096), ("bob", 1)):
        made = upsertion(
            name=user, mechanism=1, iterations=iterations, salt=b"salt" * 4, salted_password=salted
        )
        broker.ask(admin, ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, upsertions=[made])
    broker.ask(admin, ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, users=None)


def _tokens(broker: Said, admin: socket.socket) -> None:
    """Its answer alone holds the token's secret: it is left out of what is looked through."""
    made = ask(admin, load(ApiKey.CREATE_DELEGATION_TOKEN)[0](max_lifetime_ms=-1), 3)
    assert made.error_code == E.NONE
    secret = broker.made["delegation token"] = bytes(made.hmac)
    with connected(broker) as sock:  # type: ignore[arg-type]
        assert log_in_by_token(sock, made.token_id, secret).error_code == E.NONE
        broker.ask(sock, ApiKey.RENEW_DELEGATION_TOKEN, 2, hmac=secret, renew_period_ms=1)
    broker.ask(admin, ApiKey.RENEW_DELEGATION_TOKEN, 2, hmac=secret, renew_period_ms=60_000)
    broker.ask(admin, ApiKey.EXPIRE_DELEGATION_TOKEN, 2, hmac=secret[:-1], expiry_time_period_ms=-1)
    gone = ask(admin, load(ApiKey.CREATE_DELEGATION_TOKEN)[0](max_lifetime_ms=-1), 3)
    broker.made["ended token"] = bytes(gone.hmac)
    broker.ask(
        admin, ApiKey.EXPIRE_DELEGATION_TOKEN, 2, hmac=bytes(gone.hmac), expiry_time_period_ms=-1
    )
    with connected(broker) as sock:  # type: ignore[arg-type]
        assert log_in_by_token(sock, gone.token_id, bytes(gone.hmac)).error_code


def _logins(broker: Said) -> None:
    for password, code in ((SECRETS["SCRAM password"], E.NONE), (SECRETS["wrong password"], None)):
        with connected(broker) as sock:  # type: ignore[arg-type]
            client = ScramClient(PeerCredentials("admin", password, "SCRAM-SHA-256"), "nonce")
            challenge = _log_in(broker, sock, "SCRAM-SHA-256", client.first())
            try:
                final = client.final(bytes(challenge.auth_bytes))
            except Exception:  # a client that checks what the server proves
                continue
            answer = authenticate(sock, final)
            broker.answers.append(answer)
            assert (answer.error_code == E.NONE) == (code == E.NONE)
    for changes in ({}, {"aud": "web"}, {"exp": 1}):
        token = broker.issuer.token(**changes)
        broker.made[f"bearer token {changes}"] = token.encode()
        broker.made[f"signature of it {changes}"] = token.rpartition(".")[2].encode()
        with connected(broker) as sock:  # type: ignore[arg-type]
            answer = _log_in(
                broker, sock, "OAUTHBEARER", f"n,,\x01auth=Bearer {token}\x01\x01".encode()
            )
            assert bool(answer.auth_bytes) == bool(changes)
            if changes:
                broker.answers.append(authenticate(sock, b"\x01"))


def _broken_logins(broker: Said) -> None:
    """Passwords in tokens that cannot be read, of users that are none, and where a name belongs."""
    password = SECRETS["PLAIN password"]
    tokens = [
        f"\0admin\0{SECRETS['wrong password']}".encode(),
        f"\0nobody\0{password}".encode(),
        f"admin\0{password}".encode(),
        f"\0\0{password}".encode(),
        f"other\0admin\0{password}".encode(),
        f"\0admin\0{password}\0more".encode(),
        f"\0admin\0{password}".encode() + b"\xff\xfe",
        password.encode(),
    ]
    attempts = [("PLAIN", token) for token in tokens]
    attempts += [("SCRAM-SHA-256", f"n,,n=admin,p={password}".encode())]
    attempts += [("SCRAM-SHA-256", f"{password}".encode())]
    attempts += [("OAUTHBEARER", f"n,,\x01auth=Basic {password}\x01\x01".encode())]
    attempts += [("OAUTHBEARER", f"n,,\x01auth=Bearer {password}\x01\x01".encode())]
    for mechanism, token in attempts:
        with connected(broker) as sock:  # type: ignore[arg-type]
            answer = _log_in(broker, sock, mechanism, token)
            if answer is not None and answer.error_code == E.NONE:
                broker.answers.append(authenticate(sock, b"\x01"))


# -- where they could be


def forms(secret: bytes) -> dict[str, bytes]:
    encoded = base64.b64encode(secret).rstrip(b"=")
    return {
        "clear": secret,
        "base64": encoded[:-1],  # the last character may hold bits of what follows
        "base64 for URLs": base64.urlsafe_b64encode(secret).rstrip(b"=")[:-1],
        "hex": secret.hex().encode(),
        "HEX": secret.hex().upper().encode(),
        "repr": repr(secret)[2:-1].encode(),
    }


def found(broker: Said, text: bytes) -> list[str]:
    secrets = {name: secret.encode() for name, secret in SECRETS.items()} | broker.made
    return [
        f"{name} in {form}: {text[max(0, at - 120) : at + 20]!r}"
        for name, secret in secrets.items()
        for form, shape in forms(secret).items()
        if (at := text.find(shape)) >= 0
    ]


def logs(broker: Said) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(broker.directory.glob("*.log*")))


def page(broker: Said) -> bytes:
    with urllib.request.urlopen(broker.metrics_url, timeout=10) as answer:
        return answer.read()


def tree(broker: Said) -> bytes:
    """Every node with its data and ACL, read by one who may read everything."""
    client = AccessClient(
        broker.zookeeper.connect_string,
        ZooKeeperAccess(sasl=Login("super", ZOOKEEPER_USERS["super"])),
        logger=logging.getLogger("kazoo.client"),
    )
    client.start(30)
    try:
        seen = []
        paths = ["/one"]
        while paths:
            path = paths.pop()
            data, _stat = client.get(path)
            seen += [path.encode(), data, repr(client.get_acls(path)).encode()]
            paths += [f"{path}/{name}" for name in client.get_children(path)]
        return b"\n".join(seen)
    finally:
        client.stop()
        client.close()


def files(broker: Said) -> bytes:
    """Of the broker's log directory."""
    within = (path for path in (broker.directory / "data").rglob("*") if path.is_file())
    return b"\n".join(path.read_bytes() for path in within)


def answers(broker: Said) -> bytes:
    return repr(broker.answers).encode()


@pytest.mark.parametrize(
    ("read", "marks"),
    [
        (logs, (b"login-failed", b"SET_CREDENTIAL", b"EXPIRE_TOKEN")),
        (page, (b"penstock_failed_logins_total",)),
        (answers, (b"DescribeConfigsResponse", b"error_message='")),
        (tree, (b"/one/config/users/admin", b"stored_key", b"/one/delegation_token/tokens/")),
        (files, (b"cluster.id",)),
    ],
    ids=["logs", "metrics", "answers", "ZooKeeper", "files"],
)
def test_no_secret_is_there(
    said: Said, read: Callable[[Said], bytes], marks: tuple[bytes, ...]
) -> None:
    """`marks`: that the right thing is looked through, with all that was done in it."""
    text = read(said)
    assert found(said, text) == []
    assert [mark for mark in marks if mark not in text] == []


def test_a_secret_would_be_found(said: Said) -> None:
    """The file that the broker was configured by holds them, each in clear."""
    text = (said.directory / "broker.properties").read_bytes()
    named = " ".join(found(said, text))
    for name in ("PLAIN password", "brokers' password", "key of the tokens", "ZooKeeper's digest"):
        assert f"{name} in clear" in named


def test_no_secret_is_said_while_it_stops(said: Said) -> None:
    """The last test: it ends the broker."""
    said.process.terminate()
    assert said.process.wait(30) == 0
    assert found(said, logs(said)) == []
