"""cluster.configure: settings of all brokers, each key by the way that it allows.

dynamic  Kafka takes it while brokers run: set as the default of all of them, at once
static   a broker reads it when it starts: written into the cluster's configuration, then the
         brokers are restarted one after the other, as `cluster.restart` does it

A registered Kafka has dynamic keys only: nobody here writes its files. Either way back is the same
kind with the values of before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rest_framework import serializers

from controlplane.clusters.inputs import CONFIG_VALUE_MAX
from controlplane.clusters.models import MANAGED, Cluster
from controlplane.clusters.operations_base import cluster_of
from controlplane.clusters.roll_look import least_in_sync
from controlplane.clusters.rolling import (
    CANARY_MAX_S,
    CANARY_S,
    GENERATIONS,
    IN_SYNC_DEADLINE_S,
    ROLL_DEADLINE_S,
    STAYS,
    RolledBrokerSerializer,
    RollKind,
    extents,
    in_order,
    roll_warnings,
    rolled,
    unavoidable_of_all,
)
from controlplane.clusters.rolls import Unavoidable
from controlplane.clusters.rules import config_warnings
from controlplane.clusters.services import made_with
from controlplane.clusters.specs import check_config
from controlplane.common.kafka_configs import check_broker_settings, is_dynamic, is_tenants
from controlplane.common.problems import Conflict, Invalid, pointer_of
from controlplane.common.serializers import Shape
from controlplane.gateway.port import BrokerView, ClusterGateway
from controlplane.gateway.types import ConfigEntry
from controlplane.operations.blast_radius import Extent
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
from controlplane.operations.read_back import read_back_everywhere, verified_by
from controlplane.operations.summaries import Summary, summary_of
from controlplane.operations.warnings import warning_of

KEYS_MAX: Final = 50
DYNAMIC, STATIC = "dynamic", "static"
OF_ALL, OF_ONE = "DYNAMIC_DEFAULT_BROKER_CONFIG", "DYNAMIC_BROKER_CONFIG"
CONFIG_BEFORE: Final = "config"
UNCHANGED: Final = detail_of("adopted/unchanged")
SET_STAYS = detail_of("remains/settings")


class ClusterConfigureInputs(Shape):
    config = serializers.DictField(
        child=serializers.CharField(allow_null=True, max_length=CONFIG_VALUE_MAX),
        help_text="Key to value; null: what the key has without a setting. At most 50.",
    )
    canary_s = serializers.IntegerField(
        required=False, default=CANARY_S, min_value=0, max_value=CANARY_MAX_S
    )
    remove_own = serializers.BooleanField(
        required=False,
        help_text="Also take away what single brokers have set of these keys for themselves while"
        " they run, which hides what all have. Of keys that brokers take while they run.",
    )
    adopt = serializers.BooleanField(
        required=False,
        help_text="Take over what the brokers have: what is given is what all of them go by,"
        " nothing is changed, and from then on it is what this service wants.",
    )


class ChangedSettingSerializer(Shape):
    key = serializers.CharField()
    way = serializers.ChoiceField([DYNAMIC, STATIC])
    before = serializers.CharField(allow_null=True, help_text="As set so; null: not set.")
    after = serializers.CharField(allow_null=True)
    now = serializers.CharField(
        allow_null=True, help_text="What brokers go by now; null: they differ, or it is not known."
    )


class OwnSettingSerializer(Shape):
    broker = serializers.IntegerField()
    key = serializers.CharField()
    value = serializers.CharField(allow_null=True)


class ConfigureDiffSerializer(Shape):
    changes = ChangedSettingSerializer(many=True)
    own = OwnSettingSerializer(
        many=True,
        required=False,
        help_text="Of single brokers, that are taken away; absent in plans of before.",
    )
    brokers = RolledBrokerSerializer(
        many=True, help_text="In the order in which they are restarted; none for dynamic keys."
    )
    canary_s = serializers.IntegerField()


@dataclass(frozen=True, slots=True)
class _Found:
    """What brokers say of the keys, by broker."""

    by_broker: Mapping[int, Mapping[str, ConfigEntry]]

    def default_of_all(self, key: str) -> str | None:
        """The dynamic default; what one broker has for itself may hide it there."""
        for entries in self.by_broker.values():
            if key in entries and entries[key].source == OF_ALL:
                return entries[key].value
        return None

    def now(self, key: str) -> str | None:
        values = {
            entries[key].value if key in entries else None for entries in self.by_broker.values()
        }
        return values.pop() if len(values) == 1 else None

    def own(self, key: str) -> list[int]:
        """Brokers that have a setting of their own."""
        return sorted(
            broker
            for broker, entries in self.by_broker.items()
            if key in entries and entries[key].source == OF_ONE
        )

    def own_rows(self, changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Of keys that brokers take while they run: what single brokers have for themselves."""
        keys = {row["key"] for row in changes if row["way"] == DYNAMIC}
        return [
            {"broker": broker, "key": entry.name, "value": entry.value}
            for broker, entries in sorted(self.by_broker.items())
            for entry in sorted(entries.values(), key=lambda each: each.name)
            if entry.name in keys and entry.source == OF_ONE
        ]


class ClusterConfigure(RollKind):
    name = "cluster.configure"
    restores = (
        "the settings go back to what they were, by the same way; what single brokers had for"
        " themselves does not"
    )
    inputs = ClusterConfigureInputs
    diff_shape = ConfigureDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        cluster, asked = cluster_of(context), inputs["config"]
        check_asked(cluster, asked)
        gateway = self.gateway(context)
        described = gateway.describe_cluster()
        live = {node.id for node in described.brokers}
        found = _read(gateway, live, asked)
        if inputs.get("adopt"):
            return _adopted(cluster, asked, found)
        changes = [_change(cluster, key, value, found) for key, value in sorted(asked.items())]
        own = found.own_rows(changes) if inputs.get("remove_own") else []
        changes = [
            row
            for row in changes
            if row["before"] != row["after"] or any(one["key"] == row["key"] for one in own)
        ]
        if not changes:
            raise Conflict("Every setting is as asked for.", code="nothing-to-do")
        static = [row for row in changes if row["way"] == STATIC and row["before"] != row["after"]]
        rows = rolled(cluster, None) if static else []
        planned: list[dict[str, Any]] = []
        lost = Unavoidable(offline=frozenset(), unwritable=frozenset())
        if rows:
            topics = gateway.list_topics()
            least = least_in_sync(gateway, [topic.name for topic in topics])
            lost = unavoidable_of_all([row.broker_id for row in rows], topics, least)
            planned = in_order(rows, topics, live, described.controller_id)
        return PlanDraft(
            resource=f"cluster/{cluster.name}",
            diff={
                "changes": changes,
                "own": own,
                "brokers": planned,
                "canary_s": inputs.get("canary_s", CANARY_S),
            },
            summary=_summary(changes, len(rows)),
            preconditions={
                CONFIG_BEFORE: {row["key"]: row["before"] for row in changes},
                GENERATIONS: {str(row.broker_id): row.generation for row in rows},
            },
            warnings=[
                *(_own_warnings(own) if own else _warnings_of_own(changes, found)),
                *_warnings(cluster, asked),
                *(roll_warnings(cluster, planned, lost) if rows else []),
            ],
            blast_radius=extents(lost) if rows else [],
            typed_name=cluster.name,
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        cluster = cluster_of(context)
        changes = plan.diff["changes"]
        gateway = self.gateway(context)
        live = {node.id for node in gateway.describe_cluster().brokers}
        found = _read(gateway, live, [row["key"] for row in changes])
        now = {row["key"]: _before(cluster, row["key"], row["way"], found) for row in changes}
        rows = rolled(cluster, None) if plan.diff["brokers"] else []
        return {
            CONFIG_BEFORE: now,
            GENERATIONS: {str(row.broker_id): row.generation for row in rows},
        }

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:
        return super().blast_radius_now(context, plan) if plan.diff["brokers"] else []

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        if plan.inputs.get("adopt"):
            return None
        before = {row["key"]: row["before"] for row in plan.diff["changes"]}
        return self.name, {"config": before, "canary_s": plan.diff["canary_s"]}

    def set_dynamic(self, context: StepContext) -> Done:
        """The default of all brokers; again it is the same."""
        wanted = _wanted(context, DYNAMIC)
        if not wanted:
            return Done(detail=detail_of("settings/none-while-running"))
        if context.inputs.get("adopt"):
            return Done(detail=UNCHANGED)
        gateway = self.gateway(context)
        gateway.alter_default_broker_configs(wanted)
        own = context.diff.get("own", [])
        for broker in sorted({row["broker"] for row in own}):
            keys = [row["key"] for row in own if row["broker"] == broker]
            gateway.alter_broker_configs(broker, dict.fromkeys(keys))
        gone = detail_of("settings/own-gone", settings=len(own)) if own else ""
        return Done(detail=together(detail_of("settings/set", keys=len(wanted)), gone))

    def write_static(self, context: StepContext) -> Done:
        """Into the cluster's row, of which every broker's configuration is made from now on."""
        wanted = _wanted(context, STATIC)
        if not wanted:
            return Done(detail=detail_of("settings/no-restart"))
        cluster = cluster_of(context)
        config = {**cluster.config, **wanted}
        kept = {key: value for key, value in config.items() if value is not None}
        Cluster.objects.filter(pk=cluster.pk).update(config=kept)
        return Done(detail=detail_of("settings/written", keys=len(wanted)))

    def read_back(self, context: StepContext) -> Done | Wait:
        wanted = {row["key"]: row for row in context.diff["changes"]}
        removed = {(row["broker"], row["key"]) for row in context.diff.get("own", [])}

        def differing(view: BrokerView, broker: int) -> str | None:
            entries = {row.name: row for row in view.broker_configs([broker], wanted)[broker]}
            bad = [
                key
                for key, row in wanted.items()
                if not _agrees(row, entries.get(key), no_own=(broker, key) in removed)
            ]
            return detail_of("settings/another", key=bad[0]) if bad else None

        detail = detail_of("settings/as-planned", settings=len(wanted))
        return read_back_everywhere(context, self.gateway(context), differing, detail=detail)

    steps = (
        StepSpec(
            name="check",
            title="No more hangs on the brokers than the plan says",
            run=RollKind.check,
            writes=False,
        ),
        StepSpec(
            name="dynamic",
            title="Set what brokers take while they run",
            run=set_dynamic,
            stays=SET_STAYS,
        ),
        StepSpec(
            name="static",
            title="Write what they read when they start",
            run=write_static,
            stays=SET_STAYS,
        ),
        StepSpec(
            name="roll",
            title="Restart the brokers, one after the other, where that is needed",
            run=RollKind.roll,
            deadline_s=ROLL_DEADLINE_S,
            restored_by=("settle",),
            stays=STAYS,
        ),
        verified_by(read_back, deadline_s=120.0),
        StepSpec(
            name="settle",
            title="Wait for the broker under way, leave the others as they are",
            run=RollKind.settle,
            phase=Phase.RESTORE,
            deadline_s=IN_SYNC_DEADLINE_S + 600.0,
        ),
    )


def check_asked(cluster: Cluster, asked: Mapping[str, str | None]) -> None:
    """Keys that a tenant may set, values that they take, and of a registered Kafka dynamic keys.

    Raises:
        Invalid: with a pointer for each that is refused.
    """
    path = ("inputs", "config")
    if not asked or len(asked) > KEYS_MAX:
        said = f"Between 1 and {KEYS_MAX} keys."
        errors = [{"pointer": pointer_of(*path), "code": "size", "detail": said}]
        raise Invalid(said, errors=errors)
    check_broker_settings(asked, *path)
    if cluster.kind == MANAGED:
        merged = {**cluster.config, **asked}
        chosen = {key: text for key, text in merged.items() if text is not None and is_tenants(key)}
        check_config(chosen, broker_count=made_with(cluster))
        return
    errors = [
        {
            "pointer": pointer_of(*path, key),
            "code": "read-only",
            "detail": f"{key} is read when a broker starts, and the brokers of {cluster.name} are"
            " not run by this service: set it in their own configuration.",
        }
        for key in asked
        if not is_dynamic(key)
    ]
    if errors:
        raise Invalid(" ".join(error["detail"] for error in errors[:3]), errors=errors)


def _read(gateway: ClusterGateway, live: set[int], keys: Any) -> _Found:
    found = gateway.broker_configs(sorted(live), list(keys))
    return _Found({broker: {row.name: row for row in entries} for broker, entries in found.items()})


def _before(cluster: Cluster, key: str, way: str, found: _Found) -> str | None:
    return cluster.config.get(key) if way == STATIC else found.default_of_all(key)


def _change(cluster: Cluster, key: str, value: str | None, found: _Found) -> dict[str, Any]:
    way = DYNAMIC if is_dynamic(key) else STATIC
    return {
        "key": key,
        "way": way,
        "before": _before(cluster, key, way, found),
        "after": value,
        "now": found.now(key),
    }


def _wanted(context: StepContext, way: str) -> dict[str, str | None]:
    return {row["key"]: row["after"] for row in context.diff["changes"] if row["way"] == way}


def _agrees(row: Mapping[str, Any], entry: ConfigEntry | None, *, no_own: bool) -> bool:
    if entry is not None and entry.source == OF_ONE:
        return not no_own  # the broker has one of its own, as the plan has said
    if row["after"] is None:
        return entry is None or entry.source != OF_ALL
    return entry is not None and entry.value == row["after"]


def _summary(changes: list[dict[str, Any]], restarts: int) -> Summary:
    if not restarts:
        return summary_of("cluster.configure", settings=len(changes))
    return summary_of("cluster.configure/restarts", settings=len(changes), restarts=restarts)


def _warnings_of_own(changes: list[dict[str, Any]], found: _Found) -> list[dict[str, Any]]:
    rows = []
    for row in changes:
        if own := found.own(row["key"]):
            brokers = ", ".join(map(str, own))
            rows.append(warning_of("own-setting", key=row["key"], brokers=brokers))
    return rows


def _own_warnings(own: list[dict[str, Any]]) -> list[dict[str, Any]]:
    brokers = ", ".join(map(str, sorted({row["broker"] for row in own})))
    return [warning_of("own-removed", brokers=brokers)]


def _adopted(cluster: Cluster, asked: Mapping[str, str | None], found: _Found) -> PlanDraft:
    """The plan that takes over settings as they are. Raises Conflict: they are others, or are not
    dynamic ones of all brokers.
    """
    for key, value in sorted(asked.items()):
        if not is_dynamic(key):
            raise Conflict(
                f"{key} is read when a broker starts, from what this service writes.",
                code="not-as-observed",
            )
        if found.own(key) or found.default_of_all(key) != value:
            has = found.default_of_all(key) or "not set"
            raise Conflict(f"{key} of all brokers is {has}.", code="not-as-observed")
    changes = [_change(cluster, key, value, found) for key, value in sorted(asked.items())]
    return PlanDraft(
        resource=f"cluster/{cluster.name}",
        diff={"changes": changes, "own": [], "brokers": [], "canary_s": 0},
        summary=summary_of("cluster.configure/adopted", settings=len(asked)),
        preconditions={CONFIG_BEFORE: dict(asked), GENERATIONS: {}},
        warnings=[warning_of("adopts", "info")],
        typed_name=cluster.name,
    )


def _warnings(cluster: Cluster, asked: Mapping[str, str | None]) -> list[dict[str, Any]]:
    if cluster.kind != MANAGED:
        return []
    count = made_with(cluster)
    merged = {**cluster.config, **asked}
    chosen = {key: text for key, text in merged.items() if text is not None and is_tenants(key)}
    effective = check_config(chosen, broker_count=count)
    return config_warnings(effective, chosen=set(asked), broker_count=count)
