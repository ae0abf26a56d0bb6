"""cluster.register and cluster.credentials: clusters that run elsewhere, and the way in to them."""

from collections.abc import Mapping
from typing import Any

from controlplane.clusters.connections import drop_gateway, gateway_for, spec_of
from controlplane.clusters.credentials import (
    WRITE_ONLY,
    certificates,
    kept,
    shown_in_clear,
)
from controlplane.clusters.inputs import ClusterCredentialsInputs, ClusterRegisterInputs
from controlplane.clusters.models import REGISTERED, RUNNING, Cluster
from controlplane.clusters.operations_base import (
    AddsCluster,
    ClusterOperationKind,
    check_name_free,
    check_room,
    cluster_of,
    mark_deleted,
)
from controlplane.clusters.trial import Trial, probe_dict, try_way_in
from controlplane.common.crypto import seal
from controlplane.common.hashing import content_hash
from controlplane.common.problems import Conflict, Problem
from controlplane.common.times import iso
from controlplane.common.words import counted
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.operations.details import detail_of
from controlplane.operations.models import Operation, Plan
from controlplane.operations.operations import (
    Done,
    Phase,
    PlanContext,
    PlanDraft,
    StepContext,
    StepFailedError,
    StepSpec,
)
from controlplane.operations.states import SUCCEEDED
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of
from spark_analytics.contracts.telemetry import (
    TELEMETRY_PARTITIONS,
    TELEMETRY_REPLICAS_MAX,
    TELEMETRY_RETENTION_MS,
    TELEMETRY_TOPIC,
)

DAY_MS = 86_400_000

WRITTEN_TO_REGISTERED: Mapping[str, Any] = {
    "topic": TELEMETRY_TOPIC,
    "partitions": TELEMETRY_PARTITIONS,
    "replicas": TELEMETRY_REPLICAS_MAX,
    "kept_ms": TELEMETRY_RETENTION_MS,
}


class ClusterRegister(AddsCluster):
    """Take in a cluster that runs elsewhere; it is governed, not owned."""

    name = "cluster.register"
    final = "a cluster that is registered can only be let go"
    first_contact = True
    inputs = ClusterRegisterInputs
    secret_inputs = WRITE_ONLY

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        check_name_free(context.tenant, inputs["name"])
        check_room(context.tenant.pk, broker_count=0)
        trial = try_way_in(way_in(inputs, context.secrets))
        twin = (
            Cluster.objects.filter(
                tenant=context.tenant, deleted_at=None, kafka_id=trial.kafka_id
            ).first()
            if trial.kafka_id
            else None
        )
        return PlanDraft(
            resource=f"cluster/{inputs['name']}",
            diff={"before": None, "after": _shown(inputs)},
            summary=summary_of(
                "cluster.register", addresses=inputs["bootstrap_servers"], brokers=trial.brokers
            ),
            preconditions={"name": inputs["name"]},
            warnings=[
                warning_of("writes-there", **WRITTEN_TO_REGISTERED),
                *(_twin(twin) if twin else []),
                *_in_clear(inputs),
                *trial.warnings,
            ],
            impact={"probes": [probe_dict(row) for row in trial.probes]},
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        """The operation's first step asks the cluster; the confirmation does not wait for it."""
        check_name_free(context.tenant, plan.inputs["name"])
        return {"name": plan.inputs["name"]}

    def prepare(self, operation: Operation, plan: Plan) -> None:
        from controlplane.operations.plans import plan_secrets

        columns = _columns(plan.inputs, plan_secrets(plan))
        self.add_row(operation, plan, broker_count=0, kind=REGISTERED, **columns)

    def connect(self, context: StepContext) -> Done:
        cluster = cluster_of(context)
        found = gateway_for(cluster).describe_cluster()
        Cluster.objects.filter(pk=cluster.pk).update(kafka_id=found.cluster_id)
        return Done(detail=detail_of("cluster/answering", brokers=len(found.brokers)))

    def verify(self, context: StepContext) -> Done:
        gateway = gateway_for(self.added(context))
        return Done(detail=detail_of("cluster/topics", topics=len(gateway.list_topics())))

    def finish(self, operation: Operation) -> None:
        if operation.state == SUCCEEDED:
            Cluster.objects.filter(pk=operation.cluster_id).update(phase=RUNNING)
        else:
            mark_deleted(operation.cluster_id)

    steps = (
        StepSpec(
            name="connect",
            title="The cluster answers",
            run=connect,
            deadline_s=30.0,
            writes=False,
        ),
        StepSpec(name="verify", title="Its topics can be read", run=verify, phase=Phase.VERIFY),
    )


class ClusterCredentials(ClusterOperationKind):
    """Another way in to the same Kafka; it is tried before it replaces the one that is there."""

    name = "cluster.credentials"
    final = "the credentials that are replaced are forgotten"
    first_contact = True
    inputs = ClusterCredentialsInputs
    secret_inputs = WRITE_ONLY

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        cluster = cluster_of(context)
        if cluster.kind != REGISTERED:
            raise Conflict(
                f"{cluster.name} is run by this service, which keeps its credentials itself.",
                code="cluster-not-registered",
            )
        wanted = _with_address(inputs, cluster)
        trial = try_way_in(way_in(wanted, context.secrets))
        _check_same(cluster, trial)
        unknown = [] if cluster.kafka_id else [_SAME_UNKNOWN]
        return PlanDraft(
            resource=f"cluster/{cluster.name}",
            diff={"before": _shown(_now(cluster)), "after": _shown(wanted)},
            summary=summary_of(
                "cluster.credentials", cluster=cluster.name, addresses=wanted["bootstrap_servers"]
            ),
            preconditions={"way_in": _mark(cluster)},
            warnings=[*unknown, *_in_clear(wanted), *trial.warnings],
            impact={"probes": [probe_dict(row) for row in trial.probes]},
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:  # noqa: ARG002 - a hook
        return {"way_in": _mark(cluster_of(context))}

    def connect(self, context: StepContext) -> Done:
        """Nothing is replaced by what does not work now, or by the way in to another Kafka."""
        cluster = cluster_of(context)
        try:
            trial = try_way_in(way_in(_with_address(context.inputs, cluster), context.secrets))
            _check_same(cluster, trial)
        except (Problem, GatewayError) as error:
            raise StepFailedError("way-in-refused", str(error)) from error
        return Done(detail=detail_of("cluster/answering", brokers=trial.brokers))

    def replace(self, context: StepContext) -> Done:
        cluster = cluster_of(context)
        columns = _columns(_with_address(context.inputs, cluster), context.secrets)
        Cluster.objects.filter(pk=cluster.pk).update(**columns)
        drop_gateway(cluster.id)
        return Done(detail=detail_of("cluster/credentials-forgotten"))

    def verify(self, context: StepContext) -> Done:
        cluster = cluster_of(context)
        gateway = gateway_for(cluster)
        found = gateway.describe_cluster()
        Cluster.objects.filter(pk=cluster.pk, kafka_id="").update(kafka_id=found.cluster_id)
        return Done(detail=detail_of("cluster/topics", topics=len(gateway.list_topics())))

    steps = (
        StepSpec(
            name="connect",
            title="The new way in works",
            run=connect,
            deadline_s=60.0,
            writes=False,
        ),
        StepSpec(
            name="replace",
            title="Keep it in the place of the earlier one",
            run=replace,
            stays=detail_of("remains/credentials"),
        ),
        StepSpec(name="verify", title="Its topics can be read", run=verify, phase=Phase.VERIFY),
    )


_SAME_UNKNOWN = warning_of("kafka-unknown", "danger")


def way_in(inputs: Mapping[str, Any], secrets: Mapping[str, Any]) -> ConnectionSpec:
    """The connection that a plan's inputs describe, as it would be stored."""
    return spec_of(
        kind=REGISTERED,
        bootstrap_servers=inputs["bootstrap_servers"],
        security_protocol=inputs["security_protocol"],
        sasl_mechanism=inputs.get("sasl_mechanism", ""),
        username=inputs.get("username", ""),
        secrets=kept({**inputs, **secrets}),
    )


def _columns(inputs: Mapping[str, Any], secrets: Mapping[str, Any]) -> dict[str, str]:
    parts = kept({**inputs, **secrets})
    return {
        "bootstrap_servers": inputs["bootstrap_servers"],
        "security_protocol": inputs["security_protocol"],
        "sasl_mechanism": inputs.get("sasl_mechanism", ""),
        "admin_username": inputs.get("username", ""),
        "secrets_token": seal(parts) if parts else "",
    }


def _with_address(inputs: Mapping[str, Any], cluster: Cluster) -> dict[str, Any]:
    return {"bootstrap_servers": cluster.bootstrap_servers, **inputs}


def _now(cluster: Cluster) -> dict[str, Any]:
    return {
        "bootstrap_servers": cluster.bootstrap_servers,
        "security_protocol": cluster.security_protocol,
        "sasl_mechanism": cluster.sasl_mechanism,
        "username": cluster.admin_username,
    }


def _shown(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What of a way in is no secret, the certificates by what matters of them."""
    names = ("bootstrap_servers", "security_protocol", "sasl_mechanism", "username")
    more = ("oauth_token_url", "oauth_client_id", "oauth_scope")
    shown = {name: inputs[name] for name in (*names, *more) if inputs.get(name)}
    for name in ("ca_pem", "client_certificate_pem"):
        if inputs.get(name):
            first, *others = certificates(inputs[name])
            more_text = f" and {counted(len(others), 'more certificate')}" if others else ""
            shown[name] = (
                f"{first.subject.rfc4514_string()}, until {iso(first.not_valid_after_utc)}"
                f"{more_text}"
            )
    return shown


def _mark(cluster: Cluster) -> str:
    """Changes with every change of the way in: a token is sealed differently each time."""
    return content_hash(
        [cluster.bootstrap_servers, cluster.security_protocol, cluster.secrets_token]
    )


def _check_same(cluster: Cluster, trial: Trial) -> None:
    if cluster.kafka_id and trial.kafka_id != cluster.kafka_id:
        raise Conflict(
            f"This way leads to another Kafka ({trial.kafka_id or 'without an id'}, not"
            f" {cluster.kafka_id}): register it as a cluster of its own.",
            code="another-kafka",
        )


def _twin(cluster: Cluster) -> list[dict[str, Any]]:
    return [warning_of("registered-already", cluster=cluster.name)]


def _in_clear(inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not shown_in_clear(inputs):
        return []
    return [warning_of("in-the-clear", "danger", mechanism=inputs["sasl_mechanism"])]
