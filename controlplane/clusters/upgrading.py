"""cluster.upgrade and cluster.finalize_version: another release of the broker, in two decisions.

upgrade   every host has the release, the same one, and it speaks what the brokers speak now → that
          protocol is written down → broker by broker, as `cluster.restart` does it, each started of
          the new release → every agent and every broker says so
finalize  all run one release → the newest protocol that it knows is written down → broker by broker
          once more → every broker says that it speaks it

Until the protocol is raised the way back is the same kind with the version of before. Afterwards a
release that does not know the protocol is refused.
"""

from collections.abc import Mapping
from typing import Any, Final

from controlplane.clusters import services
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.operations_base import cluster_of
from controlplane.clusters.reports import Observed
from controlplane.clusters.roll_look import least_in_sync
from controlplane.clusters.roll_steps import Roller
from controlplane.clusters.rolling import (
    CANARY_S,
    GENERATIONS,
    IN_SYNC_DEADLINE_S,
    ROLL_DEADLINE_S,
    RollKind,
    extents,
    in_order,
    roll_warnings,
    rolled,
    unavoidable_of_all,
)
from controlplane.clusters.rolls import Unavoidable
from controlplane.clusters.upgrade_shapes import (
    ClusterFinalizeVersionInputs,
    ClusterUpgradeInputs,
    FinalizeDiffSerializer,
    UpgradeDiffSerializer,
)
from controlplane.clusters.versions import (
    Offer,
    Release,
    WayBack,
    changes,
    offer,
    raised_to,
    way_back,
)
from controlplane.clusters.versions_read import (
    installed_on,
    protocol_of,
    reported_by,
    version_of,
)
from controlplane.common.problems import Conflict, field_problem
from controlplane.operations.details import detail_of, together
from controlplane.operations.models import Plan
from controlplane.operations.operations import (
    Done,
    Phase,
    PlanContext,
    PlanDraft,
    StepContext,
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import read_back, verified_by
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of

VERSION: Final = "version"
PROTOCOL: Final = "protocol"
DIGEST: Final = "digest"
NOT_SAID: Final = "versions-unverified"
MIXED_STAYS: Final = detail_of("remains/versions")
RAISED_STAYS: Final = detail_of("remains/protocol-raised")


class _Moved(Roller):
    """A roll in which every broker that starts again starts of another release."""

    version = ""

    def start_again(self, row: Broker) -> None:
        generation = self.generations[row.broker_id]
        if row.generation < generation:
            rows = Broker.objects.filter(pk=row.pk, generation__lt=generation)
            rows.update(generation=generation, version=self.version)
            row.generation, row.version = generation, self.version
        services.restart_to(self.cluster, row, generation, count=self.broker_count)


class _SoftwareKind(RollKind):
    """What both decisions share: the look at the hosts, and what is compared again."""

    def _facts(
        self, context: PlanContext, cluster: Cluster
    ) -> tuple[list[Broker], dict[int, Observed], str]:
        """Every broker's row, what agents say of them, and what they speak to each other.

        Raises:
            Conflict: the last is not known.
        """
        rows = rolled(cluster, None)
        said = reported_by(rows)
        protocol = protocol_of(cluster, rows, said, self.gateway(context))
        if protocol is None:
            raise Conflict(
                "What the brokers speak to each other is not known, or is not the same: one is away"
                " or has another inter.broker.protocol.version.",
                code="protocol-unknown",
            )
        return rows, said, protocol

    def _order(
        self, context: PlanContext, rows: list[Broker]
    ) -> tuple[list[dict[str, Any]], Unavoidable]:
        gateway = self.gateway(context)
        topics = gateway.list_topics()
        least = least_in_sync(gateway, [topic.name for topic in topics])
        described = gateway.describe_cluster()
        live = {node.id for node in described.brokers}
        lost = unavoidable_of_all([row.broker_id for row in rows], topics, least)
        return in_order(rows, topics, live, described.controller_id), lost

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        cluster = cluster_of(context)
        rows = rolled(cluster, None)
        wanted = {row["id"] for row in plan.diff["brokers"]}
        name = plan.preconditions[VERSION][-1]
        return {
            **_preconditions(cluster, [row for row in rows if row.broker_id in wanted], name),
            DIGEST: _digest(offer(name, installed_on(rows), plan.preconditions[PROTOCOL])),
            PROTOCOL: cluster.protocol_version or plan.preconditions[PROTOCOL],
        }

    def _rows(self, context: StepContext) -> list[Broker]:
        return list(Broker.objects.filter(cluster=cluster_of(context)))


class ClusterUpgrade(_SoftwareKind):
    name = "cluster.upgrade"
    restores = "the brokers go back to the version of before, one after the other"
    inputs = ClusterUpgradeInputs
    diff_shape = UpgradeDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        cluster, name = cluster_of(context), inputs["version"]
        rows, said, protocol = self._facts(context, cluster)
        moving = [row for row in rows if version_of(cluster, row) != name]
        if not moving and cluster.version == name:
            raise Conflict(f"Every broker runs {name} already.", code="nothing-to-do")
        hosts = installed_on(rows)
        release = _fit(offer(name, hosts, protocol))
        planned, lost = self._order(context, moving)
        back = way_back(offer(cluster.version, hosts, protocol), release, protocol)
        return PlanDraft(
            resource=f"cluster/{cluster.name}",
            diff={
                "version": {
                    "before": cluster.version,
                    "after": name,
                    "software": release.software,
                    "digest": release.digest,
                },
                "protocol": {
                    "now": protocol,
                    "after": protocol,
                    "newest": release.newest,
                    "changes": changes(protocol, release.newest),
                },
                "way_back": {"is_open": back.is_open, "text": back.text},
                "brokers": [_moved(row, cluster, moving, said, name) for row in planned],
                "canary_s": inputs.get("canary_s", CANARY_S),
            },
            summary=summary_of(
                "cluster.upgrade", brokers=len(moving), release=name, protocol=protocol
            ),
            preconditions={
                **_preconditions(cluster, moving, name),
                DIGEST: release.digest,
                PROTOCOL: protocol,
            },
            warnings=[
                *_upgrade_warnings(release, protocol, back),
                *roll_warnings(cluster, planned, lost),
            ],
            blast_radius=extents(lost),
            typed_name=cluster.name,
        )

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        before = plan.diff["version"]["before"]
        return self.name, {"version": before, "canary_s": plan.diff["canary_s"]}

    def pin(self, context: StepContext) -> Done:
        """A new release would speak its newest protocol, which the others may not know."""
        protocol = context.diff["protocol"]["now"]
        rows = Cluster.objects.filter(pk=context.operation.cluster_id)
        rows.exclude(protocol_version=protocol).update(protocol_version=protocol)
        return Done(detail=detail_of("version/pinned", protocol=protocol))

    def roller(self, context: StepContext) -> Roller:
        found = super().roller(context)
        made = _Moved(**{name: getattr(found, name) for name in found.__slots__})
        made.version = context.inputs["version"]
        return made

    def note(self, context: StepContext) -> Done:
        """Brokers that the cluster gets later are of this version too."""
        cluster_id, name = context.operation.cluster_id, context.inputs["version"]
        Cluster.objects.filter(pk=cluster_id).update(version=name)
        Broker.objects.filter(cluster=cluster_id).update(version="")
        return Done(detail=detail_of("version/noted", release=name))

    def verify(self, context: StepContext) -> Done | Wait:
        """By what agents started, and by what each broker says of itself."""
        rows = self._rows(context)
        said = services.reports_of(rows)
        differing, silent = _differing(rows, said, context.diff)
        if differing:
            return read_back(differing, poll_s=1.0)
        found = RollKind.verify(self, context)
        if isinstance(found, Wait):
            return found
        said_all = together(
            detail_of("version/runs", release=context.inputs["version"]),
            found.detail,
            detail_of("version/unnamed", brokers=silent) if silent else "",
        )
        return read_back(None, detail=said_all, progress=found.progress)

    steps = (
        StepSpec(
            name="check",
            title="No more hangs on the brokers than the plan says",
            run=RollKind.check,
            writes=False,
        ),
        StepSpec(
            name="pin",
            title="Keep the protocol that brokers speak to each other",
            run=pin,
            stays=detail_of("remains/protocol-pinned"),
        ),
        StepSpec(
            name="roll",
            title="Start the brokers of the new version, one after the other",
            run=RollKind.roll,
            deadline_s=ROLL_DEADLINE_S,
            restored_by=("settle",),
            stays=MIXED_STAYS,
        ),
        StepSpec(
            name="note",
            title="Note the cluster's version",
            run=note,
            stays=detail_of("remains/version-new"),
        ),
        verified_by(
            verify,
            title="Every broker says that it runs the version, its replicas are in sync",
            deadline_s=IN_SYNC_DEADLINE_S,
        ),
        StepSpec(
            name="settle",
            title="Wait for the broker under way, leave the others as they are",
            run=RollKind.settle,
            phase=Phase.RESTORE,
            deadline_s=IN_SYNC_DEADLINE_S + 600.0,
        ),
    )


class ClusterFinalizeVersion(_SoftwareKind):
    name = "cluster.finalize_version"
    final = "brokers do not go back to an older protocol"
    inputs = ClusterFinalizeVersionInputs
    diff_shape = FinalizeDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        cluster = cluster_of(context)
        rows, said, protocol = self._facts(context, cluster)
        _check_one_version(cluster, rows, said)
        hosts = installed_on(rows)
        release = _fit(offer(cluster.version, hosts, protocol), field="")
        newest = raised_to(release, protocol)
        if newest is None:
            raise Conflict(
                f"The brokers speak {protocol} to each other, the newest that {cluster.version}"
                " knows.",
                code="nothing-to-do",
            )
        planned, lost = self._order(context, rows)
        names = {each.name for found in hosts.values() for each in found.releases}
        gone = [
            name
            for name in sorted(names)
            if offer(name, hosts, protocol).why_not is None
            and offer(name, hosts, newest).why_not is not None
        ]
        return PlanDraft(
            resource=f"cluster/{cluster.name}",
            diff={
                "version": cluster.version,
                "protocol": {
                    "now": protocol,
                    "after": newest,
                    "newest": newest,
                    "changes": changes(protocol, newest),
                },
                "no_way_back_to": gone,
                "brokers": planned,
                "canary_s": inputs.get("canary_s", CANARY_S),
            },
            summary=summary_of(
                "cluster.finalize_version", protocol=protocol, newest=newest, restarts=len(rows)
            ),
            preconditions={
                **_preconditions(cluster, rows, cluster.version),
                DIGEST: release.digest,
                PROTOCOL: protocol,
            },
            warnings=[
                _no_way_back(gone, newest),
                *roll_warnings(cluster, planned, lost),
            ],
            blast_radius=extents(lost),
            typed_name=cluster.name,
        )

    def raise_protocol(self, context: StepContext) -> Done:
        """Into the cluster's row, of which every broker's configuration is made from now on."""
        after = context.diff["protocol"]["after"]
        Cluster.objects.filter(pk=context.operation.cluster_id).update(protocol_version=after)
        return Done(detail=detail_of("protocol/raised", protocol=after))

    def verify(self, context: StepContext) -> Done | Wait:
        after = context.diff["protocol"]["after"]
        rows = self._rows(context)
        said = services.reports_of(rows)
        others = [
            row.broker_id
            for row in rows
            if row.broker_id not in said or said[row.broker_id].protocol != after
        ]
        if others:
            differing = detail_of("protocol/not-said", broker=str(others[0]), protocol=after)
            return read_back(differing, poll_s=1.0)
        found = RollKind.verify(self, context)
        if isinstance(found, Wait):
            return found
        spoken = together(detail_of("protocol/spoken", protocol=after), found.detail)
        return read_back(None, detail=spoken, progress=found.progress)

    steps = (
        StepSpec(
            name="check",
            title="No more hangs on the brokers than the plan says",
            run=RollKind.check,
            writes=False,
        ),
        StepSpec(
            name="raise",
            title="Write the newer protocol into the brokers' settings",
            run=raise_protocol,
            stays=RAISED_STAYS,
        ),
        StepSpec(
            name="roll",
            title="Restart the brokers, one after the other",
            run=RollKind.roll,
            deadline_s=ROLL_DEADLINE_S,
            restored_by=("settle",),
            stays=RAISED_STAYS,
        ),
        verified_by(
            verify,
            title="Every broker says that it speaks it, its replicas are in sync",
            deadline_s=IN_SYNC_DEADLINE_S,
        ),
        StepSpec(
            name="settle",
            title="Wait for the broker under way, leave the others as they are",
            run=RollKind.settle,
            phase=Phase.RESTORE,
            deadline_s=IN_SYNC_DEADLINE_S + 600.0,
        ),
    )


def _preconditions(cluster: Cluster, rows: list[Broker], name: str) -> dict[str, Any]:
    return {
        GENERATIONS: {str(row.broker_id): row.generation for row in rows},
        VERSION: [cluster.version, name],
    }


def _digest(found: Offer) -> str:
    return found.release.digest if found.release is not None else found.code


def _fit(found: Offer, *, field: str = "/inputs/version") -> Release:
    """The release that the brokers may run.

    Raises:
        Invalid: it is not on every host, is not the same, or does not fit; naming the input.
        Conflict: the same of a version that nobody chose.
    """
    if found.release is not None and found.why_not is None:
        return found.release
    text = f"Version {found.name}: {found.why_not}"
    if not field:
        raise Conflict(text, code=found.code)
    raise field_problem(field, text, found.code)


def _check_one_version(cluster: Cluster, rows: list[Broker], said: Mapping[int, Observed]) -> None:
    """Raises Conflict: a broker shall run, or does run, another version, or nobody says it."""
    others = [row.broker_id for row in rows if version_of(cluster, row) != cluster.version]
    if others:
        raise Conflict(
            f"Broker {others[0]} is not of {cluster.version}: bring all to one version first.",
            code="versions-mixed",
        )
    for row in rows:
        report = said.get(row.broker_id)
        if report is None or report.version != cluster.version:
            raise Conflict(
                f"Broker {row.broker_id} is not reported as running {cluster.version}.",
                code=NOT_SAID,
            )


def _moved(
    planned: dict[str, Any],
    cluster: Cluster,
    rows: list[Broker],
    said: Mapping[int, Observed],
    name: str,
) -> dict[str, Any]:
    row = next(each for each in rows if each.broker_id == planned["id"])
    report = said.get(row.broker_id)
    return {
        **planned,
        "from_version": version_of(cluster, row),
        "to_version": name,
        "from_software": (report.software or None) if report else None,
    }


def _differing(
    rows: list[Broker], said: Mapping[int, Observed], diff: Mapping[str, Any]
) -> tuple[str | None, int]:
    """(what is not as planned, how many brokers do not name their release)."""
    wanted, protocol = diff["version"], diff["protocol"]["now"]
    silent = 0
    for row in rows:
        report, broker = said.get(row.broker_id), str(row.broker_id)
        if report is None:
            return detail_of("version/not-reported", broker=broker), 0
        if (report.version, report.digest) != (wanted["after"], wanted["digest"]):
            return detail_of("version/other", broker=broker, release=report.version or None), 0
        if not report.software:
            silent += 1
        elif report.software != wanted["software"]:
            return detail_of("version/other-software", broker=broker, software=report.software), 0
        elif report.protocol != protocol:
            return detail_of("version/other-protocol", broker=broker, protocol=report.protocol), 0
    return None, silent


def _upgrade_warnings(release: Release, protocol: str, back: WayBack) -> list[dict[str, Any]]:
    rows = [warning_of(back.code, "info" if back.is_open else "danger", **back.params)]
    if release.newest != protocol and raised_to(release, protocol):
        rows.append(
            warning_of(
                "protocol-stays",
                "info",
                protocol=protocol,
                release=release.name,
                newest=release.newest,
            )
        )
    return rows


def _no_way_back(gone: list[str], newest: str) -> dict[str, str]:
    if not gone:
        return warning_of("way-back/all-know", "info", protocol=newest)
    return warning_of("no-way-back/raised", "danger", versions=", ".join(gone), protocol=newest)
