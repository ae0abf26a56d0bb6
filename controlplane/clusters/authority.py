"""The certificates of a managed cluster with TLS: where its authority and its brokers' are kept.

The authority's key stands sealed among the cluster's secrets and never leaves the control plane. A
broker's key stands sealed in its row, and reaches its own host alone.
"""

import datetime as dt
from dataclasses import dataclass

from controlplane.clusters.certificates import (
    Issued,
    authority_make,
    broker_certificate_make,
    expiry_of,
    is_due,
)
from controlplane.clusters.models import MANAGED, Broker, Cluster
from controlplane.common.crypto import seal, unseal

SASL_SSL = "SASL_SSL"
CA_PEM, CA_KEY_PEM = "ca_pem", "ca_key_pem"
"""Where they stand among a cluster's secrets."""
KEY = "ssl.keystore.key"
CHAIN = "ssl.keystore.certificate.chain"
TRUSTED = "ssl.truststore.certificates"
"""Kafka's keys for PEM text; the agent makes files of them."""


@dataclass(frozen=True, slots=True)
class BrokerCertificate:
    """PEM both."""

    key: str
    certificate: str

    def settings(self, ca_pem: str) -> dict[str, str]:
        """What the broker's host gets of it, sealed."""
        return {KEY: self.key, CHAIN: self.certificate, TRUSTED: ca_pem}


def has_tls(cluster: Cluster) -> bool:
    """Whether its certificates are ours to make."""
    return cluster.kind == MANAGED and cluster.security_protocol == SASL_SSL


def authority_secrets(name: str, *, now: dt.datetime) -> dict[str, str]:
    """A new authority, as it stands among a cluster's secrets."""
    made = authority_make(name, now=now)
    return {CA_PEM: made.certificate, CA_KEY_PEM: made.key}


def ca_pem(cluster: Cluster) -> str:
    """Whom clients have to trust; empty where that is not ours to say."""
    if not has_tls(cluster):
        return ""
    found: str = unseal(cluster.secrets_token)[CA_PEM]
    return found


def certificate_of(
    broker: Broker, secrets: dict[str, str], *, now: dt.datetime
) -> BrokerCertificate:
    """The broker's certificate: made where there is none, and renewed where it is due.

    Two that ask at once get the same one. `secrets` are those of its cluster.
    """
    if broker.tls_token and not _is_due(broker, now):
        return _opened(broker.tls_token)
    rows = Broker.objects.filter(pk=broker.pk, certificate_ends_at=broker.certificate_ends_at)
    certify(broker, secrets, now=now)
    rows.update(tls_token=broker.tls_token, certificate_ends_at=broker.certificate_ends_at)
    broker.refresh_from_db(fields=["tls_token", "certificate_ends_at"])
    return _opened(broker.tls_token)


def certify(broker: Broker, secrets: dict[str, str], *, now: dt.datetime) -> None:
    """Give the broker a new certificate; the caller saves it."""
    authority = Issued(secrets[CA_KEY_PEM], secrets[CA_PEM], expiry_of(secrets[CA_PEM]))
    made = broker_certificate_make(
        authority, name=f"broker {broker.broker_id}", address=broker.address, now=now
    )
    broker.tls_token = seal({"key": made.key, "certificate": made.certificate})
    broker.certificate_ends_at = made.expires_at


def _is_due(broker: Broker, now: dt.datetime) -> bool:
    return broker.certificate_ends_at is None or is_due(broker.certificate_ends_at, now=now)


def _opened(token: str) -> BrokerCertificate:
    held = unseal(token)
    return BrokerCertificate(held["key"], held["certificate"])
