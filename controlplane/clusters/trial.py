"""A way in to a cluster that runs elsewhere, tried before anything is stored.

Every address is looked at, those that the Kafka itself advertises too; all of it has one deadline,
so that an address where nobody answers holds its request for seconds, not longer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from controlplane.clusters.connections import trial_gateway
from controlplane.common.problems import Invalid
from controlplane.common.words import counted
from controlplane.gateway.connection_spec import OAUTHBEARER, ConnectionSpec
from controlplane.gateway.errors import AUTHENTICATION_FAILED, GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.rights import inabilities
from controlplane.gateway.types import ClusterDescription, NewTopic, ProbeResult, ProbeStep
from controlplane.operations.warnings import warning_of
from spark_analytics.contracts.telemetry import TELEMETRY_PARTITIONS, TELEMETRY_TOPIC

PROBE_S = 4.0
ASK_S = 3.0
ADDRESSES_MAX = 8
# Where a person puts right what a step found wrong.
FIELD_OF = {
    ProbeStep.DNS: "bootstrap_servers",
    ProbeStep.CONNECT: "bootstrap_servers",
    ProbeStep.TLS: "ca_pem",
    ProbeStep.KAFKA: "bootstrap_servers",
    ProbeStep.LOGIN: "password",
}
FIELD_OF_CODE = {
    "tls-plaintext-answered": "security_protocol",
    "login-wanted": "security_protocol",
    "tls-wrong-host": "bootstrap_servers",
    "tls-certificate-wanted": "client_certificate_pem",
    "UNSUPPORTED_SASL_MECHANISM": "sasl_mechanism",
    "token-refused": "oauth_client_secret",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A way in that works.

    Attributes:
        kafka_id: the Kafka's own name for itself.
        probes: what came of each address, those that failed too.
        warnings: rows of a plan's impact.
    """

    kafka_id: str
    brokers: int
    probes: tuple[ProbeResult, ...]
    warnings: list[dict[str, Any]]


def try_way_in(spec: ConnectionSpec) -> Trial:
    """Raises Invalid: `probe-failed`, no address lets us in; `probes` says where each ended."""
    with trial_gateway(replace(spec, timeout_s=ASK_S)) as gateway:
        asked = spec.bootstrap_servers[:ADDRESSES_MAX]
        probes = gateway.probe(asked, timeout_s=PROBE_S)
        if not any(result.ok for result in probes):
            raise _refused(probes, spec)
        try:
            cluster = gateway.describe_cluster()
            advertised = _advertised(gateway, cluster, asked)
            unable = inabilities(gateway, cluster, _telemetry_topic(cluster))
        except GatewayError as error:
            raise _refused([*probes, _of_question(asked[0], error)], spec) from error
    return Trial(
        kafka_id=cluster.cluster_id,
        brokers=len(cluster.brokers),
        probes=(*probes, *advertised),
        warnings=[
            *_untried(spec.bootstrap_servers),
            *_failed_addresses(probes, "address"),
            *_failed_addresses(advertised, "advertised"),
            *_too_weak(unable),
        ],
    )


def _advertised(
    gateway: ClusterGateway, cluster: ClusterDescription, asked: Sequence[str]
) -> list[ProbeResult]:
    """Clients are sent to these addresses, so they have to work from here too."""
    names = [
        f"[{node.host}]:{node.port}" if ":" in node.host else f"{node.host}:{node.port}"
        for node in cluster.brokers
    ]
    new = [name for name in names if name not in asked][:ADDRESSES_MAX]
    probes = gateway.probe(new, timeout_s=PROBE_S) if new else []
    reached = {name for name in names if name in asked} | {row.address for row in probes if row.ok}
    if probes and not reached:
        raise probes[0].as_error()
    return probes


def _telemetry_topic(cluster: ClusterDescription) -> NewTopic:
    del cluster  # one replica can be had of any cluster
    return NewTopic(name=TELEMETRY_TOPIC, partitions=TELEMETRY_PARTITIONS, replication_factor=1)


def _refused(probes: Sequence[ProbeResult], spec: ConnectionSpec) -> Invalid:
    failed = [row for row in probes if not row.ok]
    detail = _said(failed[0])
    if len(failed) > 1:
        detail += f" ({counted(len(failed), 'address', 'addresses')} tried, none lets Penstock in)"
    return Invalid(
        detail,
        code="probe-failed",
        errors=[
            {
                "pointer": f"/inputs/{_field_of(row, spec)}",
                "code": row.code,
                "detail": _said(row),
            }
            for row in failed
        ],
        probes=[probe_dict(row) for row in probes],
    )


def _field_of(row: ProbeResult, spec: ConnectionSpec) -> str:
    if row.code == AUTHENTICATION_FAILED and spec.sasl_mechanism == OAUTHBEARER:
        return "oauth_client_id"  # whose token the broker does not take; there is no password
    return FIELD_OF_CODE.get(row.code, FIELD_OF[row.step])


def _said(row: ProbeResult) -> str:
    """What an address answered, under its name; connections refused have it in their text."""
    return row.text if row.text.startswith(row.address) else f"{row.address}: {row.text}"


def _of_question(address: str, error: GatewayError) -> ProbeResult:
    """A Kafka that let us in and then refused to say who it is."""
    return ProbeResult(
        address=address, step=ProbeStep.KAFKA, code=error.code, text=error.detail or error.code
    )


def probe_dict(row: ProbeResult) -> dict[str, Any]:
    return {"address": row.address, "step": row.step.value, "code": row.code, "text": row.text}


def _untried(addresses: Sequence[str]) -> list[dict[str, Any]]:
    left = len(addresses) - ADDRESSES_MAX
    if left <= 0:
        return []
    return [warning_of("not-tried", "info", addresses=left, most=ADDRESSES_MAX)]


def _failed_addresses(probes: Sequence[ProbeResult], which: str) -> list[dict[str, Any]]:
    return [
        warning_of(f"{which}-failed", "danger", answer=_said(row)) for row in probes if not row.ok
    ]


def _too_weak(unable: Sequence[str]) -> list[dict[str, Any]]:
    return [warning_of("too-weak", what=what) for what in unable]
