"""Certificates of brokers are renewed before they end, and reach their brokers without a restart.

Run again and again: what the rows say is compared with what hosts were sent, so that whatever was
interrupted, or lost against an operation that wrote at the same time, is done by the next run.
"""

import datetime as dt
import logging
from dataclasses import dataclass

from controlplane.clusters.authority import CA_PEM, CHAIN, SASL_SSL, certificate_of
from controlplane.clusters.hosts import hosts
from controlplane.clusters.models import MANAGED, Broker, Cluster
from controlplane.clusters.sealing import NoHostKeyError, open_for_host, seal_for_host
from controlplane.common.crypto import unseal
from controlplane.common.keyring import SecretUnreadableError

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Renewal:
    """Certificates that one run made, brokers that were sent one, brokers left for the next run."""

    made: int = 0
    sent: int = 0
    left: int = 0


def renew_certificates(now: dt.datetime) -> Renewal:
    """Of all managed clusters with TLS. One that cannot be served keeps no other from it.

    Raises:
        HostsUnavailableError: ZooKeeper does not answer; what was made so far is sent by the next
            run.
    """
    done = Renewal()
    rows = Cluster.objects.filter(kind=MANAGED, security_protocol=SASL_SSL, deleted_at=None)
    for cluster in rows.order_by("pk"):
        for broker in cluster.brokers.all():
            try:
                _renew(cluster, broker, now, done)
            except (NoHostKeyError, SecretUnreadableError) as error:
                done.left += 1
                log.warning(
                    "the certificate of broker %s, which ends %s, was not renewed: %s",
                    broker.key,
                    broker.certificate_ends_at,
                    error,
                )
    return done


def _renew(cluster: Cluster, broker: Broker, now: dt.datetime, done: Renewal) -> None:
    before, secrets = broker.certificate_ends_at, unseal(cluster.secrets_token)
    certificate = certificate_of(broker, secrets, now=now)
    if broker.certificate_ends_at != before:
        done.made += 1
        log.info("broker %s has a certificate until %s", broker.key, broker.certificate_ends_at)
    key = broker.host_id, broker.key
    token = hosts().sealed_for(key)
    opened = open_for_host(broker.host_id, token) if token else {}
    # Nothing is desired yet, or its end is: then it needs none.
    if opened.get(CHAIN, certificate.certificate) == certificate.certificate:
        return
    renewed = opened | certificate.settings(secrets[CA_PEM])
    if hosts().reseal(key, token, seal_for_host(broker.host_id, renewed)):
        done.sent += 1
    else:
        done.left += 1
