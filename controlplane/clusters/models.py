"""Cluster and, for managed ones, the brokers that it should have."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from controlplane.clusters.host_states import CORDONED
from controlplane.common.fields import SealedField
from controlplane.common.ids import new_id
from controlplane.tenants.models import Tenant
from zookeeper_access.identity import plain_connect_string

MANAGED, REGISTERED = "managed", "registered"
KIND_CHOICES = [(MANAGED, MANAGED), (REGISTERED, REGISTERED)]
AGENTS_OWN = "agent"
"""`versions.OWN`: the version of brokers that were given no other."""
CREATING, RUNNING, UPDATING, DEGRADED = "CREATING", "RUNNING", "UPDATING", "DEGRADED"
DELETING, FAILED, DELETED = "DELETING", "FAILED", "DELETED"
WATCHED_PHASES = (RUNNING, UPDATING, DEGRADED)
"""Of clusters that are up: they are sampled, judged and alerted on."""
PHASE_CHOICES = [
    (phase, phase) for phase in (CREATING, RUNNING, UPDATING, DEGRADED, DELETING, FAILED, DELETED)
]
SECURITY_CHOICES = ["PLAINTEXT", "SASL_PLAINTEXT", "SSL", "SASL_SSL"]
LISTENER_SECURITY_CHOICES = ["SASL_SSL", "SASL_PLAINTEXT"]
MECHANISM_CHOICES = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]


def new_cluster_id() -> str:
    return new_id("kc")


def own_connect_string() -> str:
    """By which this service reaches ZooKeeper, and brokers that begin anew are to."""
    return plain_connect_string(settings.ZOOKEEPER)


def new_join_token_id() -> str:
    return new_id("jt")


class Cluster(models.Model):
    """Intent and the way in. What the brokers really do is asked of them, never stored here."""

    id = models.CharField(primary_key=True, max_length=40, default=new_cluster_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="clusters")
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=20, choices=KIND_CHOICES)
    phase = models.CharField(max_length=20, choices=PHASE_CHOICES)
    bootstrap_servers = models.TextField()
    security_protocol = models.CharField(max_length=20)
    sasl_mechanism = models.CharField(max_length=20, blank=True)
    admin_username = models.CharField(max_length=200, blank=True)
    # Sealed, by name: of a managed cluster its passwords, of a registered one its way in
    # (`credentials`); empty where there is nothing to keep.
    secrets_token = SealedField(blank=True)
    # The Kafka's own id, of a registered cluster, as soon as it said so: two registrations may be
    # of one Kafka.
    kafka_id = models.CharField(max_length=200, blank=True, default="")
    config = models.JSONField(default=dict)
    # The highest id that a broker was given in a change of their number: none is given twice.
    highest_broker_id = models.PositiveIntegerField(default=0)
    # Of a managed cluster: which release its brokers run (`versions`), and what they speak to each
    # other; the latter is empty until it was first written down, before another release came.
    version = models.CharField(max_length=63, default=AGENTS_OWN)
    protocol_version = models.CharField(max_length=20, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "name"],
                condition=models.Q(deleted_at=None),
                name="cluster_name_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.id})"

    @property
    def zookeeper_path(self) -> str:
        return f"/penstock/clusters/{self.id}"


class Broker(models.Model):
    """One broker process that a managed cluster should have on a host."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="brokers")
    broker_id = models.PositiveIntegerField()
    host_id = models.CharField(max_length=100)
    address = models.CharField(max_length=100)
    rack = models.CharField(max_length=100, blank=True)
    client_port = models.PositiveIntegerField()
    internal_port = models.PositiveIntegerField()
    # What the host was last asked for, and how often that has changed: a report of another
    # generation says nothing of it.
    desired_state = models.CharField(max_length=20, default="running")
    generation = models.PositiveIntegerField(default=1)
    # While releases are being exchanged: the one that it was given; empty: the cluster's.
    version = models.CharField(max_length=63, blank=True, default="")
    # Names of its host's data directories beside the first, which every broker has; and those that
    # it had and that failed: its host never gives it back what lies there (`log_dirs`).
    log_dirs = models.JSONField(default=list, blank=True)
    given_up_dirs = models.JSONField(default=list, blank=True)
    # Key and certificate of a broker whose cluster has TLS; when the certificate ends.
    tls_token = SealedField(blank=True)
    certificate_ends_at = models.DateTimeField(null=True)
    # The connect string to ZooKeeper that it was given, without its cluster's chroot: it keeps that
    # until an operation gives it another one, whatever this service's own is by then.
    zookeeper = models.CharField(max_length=1_000, default=own_connect_string)

    class Meta:
        ordering = ["broker_id"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "broker_id"], name="broker_once"),
            models.UniqueConstraint(fields=["host_id", "client_port"], name="client_port_once"),
            models.UniqueConstraint(fields=["host_id", "internal_port"], name="internal_port_once"),
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id}-{self.broker_id}@{self.host_id}"

    @property
    def key(self) -> str:
        return f"{self.cluster_id}-{self.broker_id}"


class LostBroker(models.Model):
    """A broker whose host was declared lost: it counts no more, and its data may not come back.

    `directory_ids` are those of its log directories, as far as its host had said them; what it was
    to the hosts is an `OwedDeletion`. `fenced_at` is when ZooKeeper was told of both.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="lost_brokers")
    broker_id = models.PositiveIntegerField()
    host_id = models.CharField(max_length=100)
    address = models.CharField(max_length=100)
    rack = models.CharField(max_length=100, blank=True)
    client_port = models.PositiveIntegerField()
    directory_ids = models.JSONField(default=list)
    declared_at = models.DateTimeField(auto_now_add=True)
    declared_by = models.CharField(max_length=200)
    fenced_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["broker_id"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "broker_id"], name="lost_broker_once")
        ]

    def __str__(self) -> str:
        return f"{self.key}@{self.host_id}, lost"

    @property
    def key(self) -> str:
        return f"{self.cluster_id}-{self.broker_id}"


class Ensemble(models.Model):
    """One row: the identity of the ZooKeeper tree that is this service's own (`home_tree`)."""

    identity = models.CharField(max_length=100)
    found_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.identity


class HostState(models.Model):
    """What operators decided about a host (`host_states`); without a row it is active."""

    host_id = models.CharField(primary_key=True, max_length=100)
    state = models.CharField(max_length=20, default=CORDONED)
    reason = models.CharField(max_length=500, blank=True, default="")
    by = models.CharField(max_length=200)
    since = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.host_id}: {self.state}"


class JoinToken(models.Model):
    """Lets one host join, once. Only a hash of the token is kept."""

    id = models.CharField(primary_key=True, max_length=40, default=new_join_token_id)
    host_id = models.CharField(max_length=100)
    token_hash = models.CharField(max_length=64, unique=True)
    # Of the ensemble that the host is to join: a token that was made for another one is refused.
    ensemble = models.CharField(max_length=64)
    note = models.CharField(max_length=200, blank=True, default="")
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    used_from = models.CharField(max_length=64, blank=True, default="")
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"join token {self.id} of {self.host_id}"


class OwedDeletion(models.Model):
    """A broker of a deleted cluster whose host was away: its data goes when the host is back."""

    host_id = models.CharField(max_length=100)
    key = models.CharField(max_length=100)
    cluster_id = models.CharField(max_length=40)
    broker_id = models.PositiveIntegerField()
    generation = models.PositiveIntegerField()
    client_port = models.PositiveIntegerField()
    internal_port = models.PositiveIntegerField()
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["host_id", "key"], name="owed_once")]

    def __str__(self) -> str:
        return f"{self.key}@{self.host_id}"


class HostKey(models.Model):
    """The keys of what one host reads, sealed: `{"keys": [the first seals, …], "waiting": key}`."""

    host_id = models.CharField(primary_key=True, max_length=100)
    sealed_keys = SealedField()
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"keys of host {self.host_id}"
