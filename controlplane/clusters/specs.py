"""The configuration of a provisioned broker, and its first SCRAM credentials. Pure."""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from controlplane.clusters.logins import SCRAM
from controlplane.clusters.rules import Placement
from controlplane.clusters.versions import OWN
from controlplane.common.kafka_configs import check_broker_settings, is_tenants, resolved_broker
from zookeeper_access import keys
from zookeeper_access.settings import Login

BROKER_USER = "penstock-broker"
ADMIN_USER = "penstock-admin"
ADMIN_MECHANISM = "SCRAM-SHA-256"
SCRAM_ITERATIONS = 4096
OFFSETS_PARTITIONS = 8
LAG_TIME = "replica.lag.time.max.ms"
LAG_TIME_MS = 7_500
"""Below Kafka's 30 s, see `cut_bound_s`; a tenant may choose another one."""
LOOKS_PER_LAG_TIME, CONTROLLER_SILENT_S = 4, 1.5
"""How brokers go about it (`dataplane/replication/leader`, `broker/replicas/past_controller`)."""
ZOOKEEPER_PASSWORD = "zookeeper"  # noqa: S105 - where it stands among a cluster's secrets
ZOOKEEPER_NODES = "zookeeper:nodes"
PEERS_SHOW_CERTIFICATES = {"listener.name.internal.ssl.client.auth": "required"}
OPEN, CLOSING, CLOSED = "open", "closing", "closed"
"""How far a cluster of before there were logins is; one that was made with a login says nothing."""
ZOOKEEPER_NEXT = "zookeeper:next"  # the password that takes the place of the present one
ZOOKEEPER_ROTATION = "zookeeper:rotation"
ADDING, MOVING, REMOVING, LEAVING = "adding", "moving", "removing", "leaving"
"""How far that is (`rotation`); a cluster whose login is not being replaced says nothing."""


class BrokerView(Protocol):
    @property
    def broker_id(self) -> int: ...
    @property
    def address(self) -> str: ...
    @property
    def rack(self) -> str: ...
    @property
    def client_port(self) -> int: ...
    @property
    def internal_port(self) -> int: ...


def broker_config(
    broker: BrokerView,
    *,
    zookeeper: str,
    chroot: str,
    broker_count: int,
    of_tenant: Mapping[str, str],
    security_protocol: str,
) -> dict[str, str]:
    """Kafka's own keys; `log.dirs` and where certificates lie are the agent's to set.

    `security_protocol` is of both listeners: who encrypts what clients send has it encrypted on
    its way to the followers too. With TLS brokers show each other certificates of the cluster's
    authority, so that the login alone makes no broker.

    What a tenant chose (`of_tenant`) wins over the defaults and never over what the service
    decides. Keys that are not a tenant's were refused by the plan; of a cluster that was planned
    before there was a table they are left out.
    """
    rf = min(3, broker_count)
    defaults = {
        "min.insync.replicas": str(min(2, rf)),
        "default.replication.factor": str(rf),
        "offsets.topic.replication.factor": str(rf),
        "offsets.topic.num.partitions": str(OFFSETS_PARTITIONS),
        "transaction.state.log.replication.factor": str(rf),
        "transaction.state.log.min.isr": str(min(2, rf)),
        "auto.create.topics.enable": "false",
        LAG_TIME: str(LAG_TIME_MS),
        "group.initial.rebalance.delay.ms": "500",
    }
    chosen = {key: value for key, value in of_tenant.items() if is_tenants(key)}
    client = f"CLIENT://{broker.address}:{broker.client_port}"
    internal = f"INTERNAL://{broker.address}:{broker.internal_port}"
    return {
        **defaults,
        **chosen,
        "broker.id": str(broker.broker_id),
        "broker.rack": broker.rack,
        "listeners": f"{client},{internal}",
        "advertised.listeners": f"{client},{internal}",
        "listener.security.protocol.map": ",".join(
            f"{listener}:{security_protocol}" for listener in ("CLIENT", "INTERNAL")
        ),
        "inter.broker.listener.name": "INTERNAL",
        "zookeeper.connect": f"{zookeeper}{chroot}",
        "sasl.enabled.mechanisms": ",".join(SCRAM),
        "sasl.mechanism.inter.broker.protocol": ADMIN_MECHANISM,
        "penstock.tenant.configs.only": "true",
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": f"User:{BROKER_USER};User:{ADMIN_USER}",
        **(PEERS_SHOW_CERTIFICATES if security_protocol == "SASL_SSL" else {}),
    }


def cut_bound_s(of_tenant: Mapping[str, str]) -> float:
    """How long writes with acks=all wait for a replica that its leader no longer hears of.

    Two hosts that do not reach each other and both reach ZooKeeper are both alive: nobody is
    fenced, and leaders wait until the followers beyond the cut have trailed for
    `replica.lag.time.max.ms`, which they look for four times in that time. If the active controller
    is beyond the cut as well, they ask it in vain for so long before they go on without it.
    """
    lag_s = int(of_tenant.get(LAG_TIME, LAG_TIME_MS)) / 1_000
    return lag_s * (1 + 1 / LOOKS_PER_LAG_TIME) + CONTROLLER_SILENT_S


def check_config(of_tenant: Mapping[str, str], *, broker_count: int) -> dict[str, Any]:
    """What a tenant's choice comes to: all settings of brokers, and by topic key what topics have.

    Raises:
        Invalid: a key that is not a tenant's, a value out of bounds, settings that do not fit each
            other; with pointers into `/inputs/config`.
    """
    path = ("inputs", "config")
    check_broker_settings(of_tenant, *path)
    whole = broker_config(
        _ANYWHERE,
        zookeeper="127.0.0.1:2181",
        chroot="/",
        broker_count=broker_count,
        of_tenant=of_tenant,
        security_protocol="SASL_PLAINTEXT",
    )
    broker, topic = resolved_broker(whole, of_tenant, *path)
    return {**broker, **topic}


_ANYWHERE = Placement(
    broker_id=1,
    host_id="any",
    rack="any",
    address="127.0.0.1",
    client_port=1,
    internal_port=2,
)
"""Where a broker goes changes nothing about whether its settings fit each other."""


def secret_config(
    *, broker_password: str, admin_password: str, salts: Mapping[str, bytes]
) -> dict[str, str]:
    """What the agent merges into the configuration after unsealing it."""
    credentials = [
        f"{user}={scram_credential(password, salts[user])}"
        for user, password in ((BROKER_USER, broker_password), (ADMIN_USER, admin_password))
    ]
    return {
        "penstock.inter.broker.username": BROKER_USER,
        "penstock.inter.broker.password": broker_password,
        "penstock.bootstrap.scram": ",".join(credentials),
    }


@dataclass(frozen=True, slots=True)
class ClusterLogins:
    """A cluster's logins to ZooKeeper.

    Brokers log in by `own`; the nodes that they make are `own`'s and that of `also_on_nodes`; the
    chroot is that of all `on_chroot`.
    """

    own: Login
    also_on_nodes: tuple[Login, ...]
    on_chroot: tuple[Login, ...]


def cluster_logins(cluster_id: str, secrets: Mapping[str, str]) -> ClusterLogins:
    """As the cluster's secrets have it; `rotation` says in which order that changes."""
    present = Login(cluster_id, secrets[ZOOKEEPER_PASSWORD])
    phase = secrets.get(ZOOKEEPER_ROTATION)
    if phase is None:
        return ClusterLogins(present, (), (present,))
    following = Login(cluster_id, secrets[ZOOKEEPER_NEXT])
    both = present, following
    return {
        ADDING: ClusterLogins(present, (following,), both),
        MOVING: ClusterLogins(following, (present,), both),
        REMOVING: ClusterLogins(following, (), both),
        LEAVING: ClusterLogins(following, (), (following,)),
    }[phase]


def zookeeper_config(login: Login, *, administrators: Sequence[str]) -> dict[str, str]:
    """Whose the cluster's nodes in ZooKeeper are. How a host reaches it is for its agent to add."""
    return {
        keys.SET_ACL: "true",
        keys.ACL_USERNAME: login.username,
        keys.ACL_PASSWORD: login.password,
        keys.ACL_ADMINISTRATORS: ",".join(administrators),
    }


def scram_credential(password: str, salt: bytes) -> str:
    """`SCRAM-SHA-256:<iterations>:<salt>:<stored key>:<server key>`, RFC 5802 §3."""
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, SCRAM_ITERATIONS)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    stored_key = hashlib.sha256(client_key).digest()
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    fields = (salt, stored_key, server_key)
    encoded = ":".join(base64.b64encode(field).decode() for field in fields)
    return f"{ADMIN_MECHANISM}:{SCRAM_ITERATIONS}:{encoded}"


def desired_spec(
    *,
    cluster_id: str,
    broker_id: int,
    generation: int,
    state: str,
    config: Mapping[str, str],
    secret: str,
    version: str = OWN,
    log_dirs: Sequence[str] = (),
    given_up: Sequence[str] = (),
) -> dict[str, Any]:
    """`version` is the release that the broker shall be of (`versions`). `log_dirs` are names of
    its host's directories beside the first; `given_up` are those that it had and that failed.

    What an agent of before does not know is said only where there is something to say.
    """
    directories = {"log_dirs": [*log_dirs], "given_up": [*given_up]}
    return {
        "v": 1,
        "cluster_id": cluster_id,
        "broker_id": broker_id,
        "generation": generation,
        "state": state,
        "config": dict(config),
        "secret": secret,
        "version": version,
        **{name: value for name, value in directories.items() if value},
    }
