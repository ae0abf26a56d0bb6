"""What the tests of the control plane share: a tenant with a cluster, clients, a driver."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from rest_framework.test import APIClient

from controlplane.audit.services import Actor
from controlplane.clusters.fake_hosts import FakeHosts
from controlplane.clusters.models import MANAGED, RUNNING, Cluster, HostState
from controlplane.clusters.sealing import open_for_host
from controlplane.clusters.selectors import reader_of
from controlplane.common.grants import EVERYTHING
from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.types import BrokerNode
from controlplane.observed.models import ObservedCluster
from controlplane.observed.readers import Reader
from controlplane.observed.selectors import MODELS
from controlplane.observed.services import observe
from controlplane.operations import engine
from controlplane.operations.models import Operation
from controlplane.operations.plans import plan_create
from controlplane.operations.services import operation_start
from controlplane.operations.states import ACTIVE_STATES
from controlplane.tenants.models import Membership, Tenant

ACTOR = Actor(name="user:test")
TICKS_MAX = 200


def tenant_make(slug: str = "acme") -> Tenant:
    return Tenant.objects.get_or_create(slug=slug, defaults={"name": slug.title()})[0]


def cluster_make(tenant: Tenant, name: str = "main", **fields: Any) -> Cluster:
    values = {
        "kind": MANAGED,
        "phase": RUNNING,
        "bootstrap_servers": "127.0.0.1:1",
        "security_protocol": "PLAINTEXT",
        **fields,
    }
    return Cluster.objects.create(tenant=tenant, name=name, **values)


def client_for(tenant: Tenant, role: str | None = "owner", name: str = "") -> APIClient:
    """A signed-in client; no role means: not a member."""
    user, _ = User.objects.get_or_create(username=name or f"{tenant.slug}-{role}")
    if role is not None:
        Membership.objects.update_or_create(tenant=tenant, user=user, defaults={"role": role})
    client = APIClient()
    client.force_login(user)
    return client


def operator_client(tenant: Tenant) -> APIClient:
    """An operator of the platform, who is shown `tenant` first."""
    User.objects.get_or_create(username="platform-operator", defaults={"is_staff": True})
    client = client_for(tenant, role=None, name="platform-operator")
    client.credentials(HTTP_X_PENSTOCK_TENANT=tenant.slug)
    return client


@dataclass
class World:
    """One tenant, one running cluster, its fakes."""

    tenant: Tenant
    cluster: Cluster
    gateway: FakeGateway
    hosts: FakeHosts
    sent: list[tuple[str, list[Any], float]] = field(default_factory=list)
    named: dict[str, Any] = field(default_factory=dict)
    """What a test's fixtures made in it, by what the tests call it."""

    def plan(self, kind: str, cluster_id: str | None = "", **inputs: Any) -> Any:
        return plan_create(
            tenant=self.tenant,
            actor=ACTOR,
            kind_name=kind,
            cluster_id=self.cluster.id if cluster_id == "" else cluster_id,
            inputs=inputs,
        )

    def start(self, plan: Any) -> Operation:
        return operation_start(
            tenant=self.tenant,
            actor=ACTOR,
            plan_id=plan.id,
            plan_hash=plan.plan_hash,
            confirm=plan.confirm_phrase or "",
        )

    def opened(self, cluster_id: str) -> dict[int, dict[str, str]]:
        """What the hosts of a cluster's brokers open of what is desired, by broker id."""
        return {
            spec["broker_id"]: open_for_host(key[0], spec["secret"])
            for key, spec in self.hosts.desired.items()
            if spec["cluster_id"] == cluster_id
        }

    def run(self, kind: str, cluster_id: str | None = "", **inputs: Any) -> Operation:
        return drive(self.start(self.plan(kind, cluster_id, **inputs)))


class ObedientBrokers:
    """Brokers of the fake cluster that do what their hosts are told: one that is stopped is away
    until it is started again, wherever that is. A deletion ends the process of that place alone.
    One that is told another address than before starts again there.
    """

    def __init__(self, cluster_id: str, gateway: FakeGateway) -> None:
        self._cluster_id, self._gateway = cluster_id, gateway
        self._runs_at: dict[int, tuple[str, str] | None] = {}
        self._told: dict[tuple[str, str], str] = {}

    def __call__(self, key: tuple[str, str], spec: dict[str, Any]) -> None:
        if spec["cluster_id"] != self._cluster_id:
            return
        broker, brokers = spec["broker_id"], self._gateway.brokers
        if spec["state"] == "stopped" or (
            spec["state"] == "deleted" and self._runs_at.get(broker) == key
        ):
            brokers.pop(broker, None)
            self._runs_at[broker] = None
        elif spec["state"] == "running":
            client = spec["config"]["advertised.listeners"].split(",")[0].partition("://")[2]
            told, self._told[key] = self._told.get(key, client), client
            if self._runs_at.get(broker, key) is not None and told == client:
                return
            host, _, port = client.rpartition(":")
            rack = spec["config"]["broker.rack"] or None
            brokers[broker] = BrokerNode(id=broker, host=host, port=int(port), rack=rack)
            self._runs_at[broker] = key


def only_on(*host_ids: str, world: World) -> None:
    """New brokers go to these hosts alone: the others are cordoned."""
    for host in world.hosts.known:
        row = HostState.objects.filter(pk=host.host_id)
        if host.host_id in host_ids:
            row.delete()
        elif not row.exists():
            HostState.objects.create(host_id=host.host_id, by="test")


def observed(world: World) -> None:
    """A pass over the cluster now: what was changed at the brokers is in the tables."""
    assert observe(world.cluster.id)


def reader_of_all(world: World) -> Reader:
    """Who sees the whole cluster."""
    return reader_of(world.cluster, EVERYTHING)


def forget_observed(world: World) -> None:
    """As if nobody had ever looked at the cluster."""
    for model in (*MODELS.values(), ObservedCluster):
        model.objects.filter(cluster=world.cluster).delete()


def drive(operation: Operation, *, ticks: int = TICKS_MAX) -> Operation:
    """Tick until the operation ends (or `ticks` are used up); no waiting between ticks."""
    for _ in range(ticks):
        operation.refresh_from_db()
        if operation.state not in ACTIVE_STATES:
            break
        engine.tick(operation.id)
    operation.refresh_from_db()
    return operation


def step(operation: Operation, name: str) -> Any:
    return operation.steps.get(name=name)


class InPlace(Executor):
    """Runs each call in the thread that asks for its result, so on that thread's database."""

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return _Asked(lambda: call(*args, **kwargs))


class _Asked(Future[Any]):
    def __init__(self, call: Callable[[], Any]) -> None:
        super().__init__()
        self._call = call

    def result(self, timeout: float | None = None) -> Any:
        if not self.done():
            try:
                self.set_result(self._call())
            except Exception as error:
                self.set_exception(error)
        return super().result(timeout)
