"""What a kind of operation offers, and the registry of kinds.

A kind is stateless. `plan` reads the truth and decides; each step re-reads the truth, does at
most one idempotent thing and says Done or Wait. Whatever a step must remember goes to
`context.memo`, which is stored with its outcome.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from rest_framework.serializers import Serializer

from controlplane.audit.services import Actor
from controlplane.common.grants import Area
from controlplane.common.problems import field_problem
from controlplane.operations.blast_radius import Extent
from controlplane.operations.details import Detail, detail_of
from controlplane.operations.diffs import ChangeDiffSerializer
from controlplane.operations.locks import LOCKS, Lock, Resource
from controlplane.operations.models import Operation, Plan
from controlplane.operations.restores import gaps
from controlplane.operations.risks import Risk
from controlplane.operations.summaries import Summary
from controlplane.tenants.models import Tenant


class Phase(StrEnum):
    """When a step runs.

    EXECUTE and VERIFY on the way to success; ALWAYS on every way out; RESTORE when the
    operation failed or was cancelled; TEARDOWN when it was cancelled.
    """

    EXECUTE = "execute"
    VERIFY = "verify"
    ALWAYS = "always"
    RESTORE = "restore"
    TEARDOWN = "teardown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    done: int
    total: int
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """`detail`: made by `details`, as `remains`: what a restoring step had to leave."""

    detail: str = ""
    progress: Progress | None = None
    remains: tuple[Detail, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Not yet: look again in `seconds`. `detail` is as that of `Done`."""

    seconds: float = 0.3
    detail: str = ""
    progress: Progress | None = None


class StepFailedError(Exception):
    """The step cannot succeed; the operation fails with this code. `detail`: made by `details`."""

    def __init__(self, code: str, detail: str, **extra: Any) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.extra = extra


class StepRetryError(Exception):
    """The world is away for a moment (ZooKeeper, a broker): try again with backoff.

    `detail`: made by `details`, as that of `Wait`.
    """

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDraft:
    """What a kind decided. `preconditions` are what must still hold when the plan is executed.

    `typed_name` is what a risky plan asks to be typed: the resource's name unless it says another.
    """

    resource: str
    diff: dict[str, Any]
    summary: Summary
    preconditions: dict[str, Any]
    warnings: list[dict[str, Any]] = field(default_factory=list)
    impact: dict[str, Any] = field(default_factory=dict)
    blast_radius: list[Extent] = field(default_factory=list)
    typed_name: str = ""

    @property
    def name_to_type(self) -> str:
        return self.typed_name or self.resource.partition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContext:
    tenant: Tenant
    cluster_id: str | None
    actor: Actor
    secrets: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class StepContext:
    """A step's view of its operation. `memo` is stored after the step, whatever it answers."""

    operation: Operation
    tenant: Tenant
    inputs: dict[str, Any]
    diff: dict[str, Any]
    preconditions: dict[str, Any]
    memo: dict[str, Any]
    secrets: dict[str, Any]
    cluster: object | None = None
    """The row of the cluster, once a step has asked for it."""


StepRun = Callable[[Any, StepContext], Done | Wait]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpec:
    """One step of a kind. `run` is the kind's method, taken from its class.

    It does at most one idempotent thing and may run again after a crash at any point.

    Attributes:
        writes: whether it may change anything; only steps of phase EXECUTE are asked.
        restored_by: names of the steps that bring back what it did, or say why they cannot.
        stays: what stays where those do not run or fail; made by `details`.
    """

    name: str
    title: str
    run: StepRun
    phase: Phase = Phase.EXECUTE
    deadline_s: float = 120.0
    writes: bool = True
    restored_by: tuple[str, ...] = ()
    stays: Detail | None = None


class OperationKind(ABC):
    """Stateless behaviour of one kind of operation."""

    name: ClassVar[str]
    inputs: ClassVar[type[Serializer[Any]]]
    diff_shape: ClassVar[type[Serializer[Any]]] = ChangeDiffSerializer
    steps: ClassVar[tuple[StepSpec, ...]]
    other_titles: ClassVar[Mapping[str, str]] = {}
    """By step, of what some plans of the kind do instead (`title_of`)."""
    cancellable: ClassVar[bool] = False
    pausable: ClassVar[bool] = False
    """Its steps look at `Operation.paused_at` between the things that they do one after another."""
    on_cluster: ClassVar[bool] = False
    first_contact: ClassVar[bool] = False
    """It asks an address that nobody has reached yet: its steps run in the pool for such, and a
    tenant makes few of its plans at a time."""
    secret_inputs: ClassVar[tuple[str, ...]] = ()
    has_to_show: ClassVar[bool] = False
    """Whether `show` does anything."""
    risks: ClassVar[frozenset[Risk]] = frozenset()
    """What every plan of the kind may cost; warnings add those of the one plan."""
    restores: ClassVar[str] = ""
    """What undoing does, as a clause: `the settings go back`. Kinds with an `undo` say it."""
    final: ClassVar[str] = "what is done stays done"
    """Why there is no way back, as a clause, for plans without an `undo`."""

    @abstractmethod
    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        """Read the truth, decide, change nothing.

        Raises:
            Problem: the inputs do not fit the truth.
            GatewayError: the cluster cannot be read.
        """

    def step(self, name: str) -> StepSpec:
        """The step of this name; one that an earlier version had, and this one not, fails."""
        for spec in self.steps:
            if spec.name == name:
                return spec
        return StepSpec(name=name, title=name, run=_unknown_step)

    def title_of(self, spec: StepSpec, plan: Plan) -> str:  # noqa: ARG002 - a hook
        """What people read of the step; some kinds do another thing for some plans and say so."""
        return spec.title

    def titles(self) -> dict[str, str]:
        """What its steps are called, by a code that stays when the sentence is put another way."""
        own = {f"{self.name}/{spec.name}": spec.title for spec in self.steps}
        return own | {f"{self.name}/{name}/other": text for name, text in self.other_titles.items()}

    def title_code(self, name: str, title: str) -> str | None:
        """The code of a step's title; None: a sentence of another version."""
        titles = self.titles()
        codes = (f"{self.name}/{name}", f"{self.name}/{name}/other")
        return next((code for code in codes if titles.get(code) == title), None)

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        """The plan's preconditions as the world is now; other values make the plan stale."""
        return self.plan(context, plan.inputs).preconditions

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:
        """The plan's extents measured again; those that grew too far refuse the confirmation."""
        if not plan.impact.get("blast_radius"):
            return []
        return self.plan(context, plan.inputs).blast_radius

    def lock_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        """Which things of `resource` the plan is about; the table `LOCKS` says in which mode.

        A cluster and its placement of replicas have no name within the cluster.
        """
        if resource in {Resource.CLUSTER, Resource.PLACEMENT}:
            return [""]
        raise NotImplementedError(f"{self.name} names no {resource} of {plan.resource}")

    def also_read(self, plan: Plan) -> Iterable[tuple[Area, str]]:
        """What is read or lost and nothing is locked of: it has to be seen, too."""
        del plan
        return ()

    def asked_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        """As `lock_names`, of a plan that has only its inputs yet: what they name themselves."""
        return self.lock_names(resource, plan)

    def locks(self, plan: Plan, cluster_id: str | None) -> list[Lock]:
        """What the table has the kind take; nothing on a cluster that is not there yet."""
        scopes = {Resource.CLUSTER_NAME: plan.tenant_id}
        return [
            Lock(scope, resource, name, mode)
            for resource, mode in LOCKS[self.name].items()
            if (scope := scopes.get(resource, cluster_id)) is not None
            for name in sorted(set(self.lock_names(resource, plan)))
        ]

    def prepare(self, operation: Operation, plan: Plan) -> None:  # noqa: B027 - optional hook
        """Rows that must exist with the operation, in its transaction."""

    def show(self, operation: Operation, state: str) -> None:  # noqa: B027 - optional hook
        """Before the operation is said to be in `state`: have lists show what it changed.

        It is asked of kinds that say `has_to_show`, in a tick of its own. It may run again, and
        what it raises is only logged.
        """

    def finish(self, operation: Operation) -> None:  # noqa: B027 - optional hook
        """Rows that must change with the operation's end, in its transaction."""

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:  # noqa: ARG002 - a hook
        """(kind, inputs) of the plan that would revert a succeeded operation.

        Its plans say `restores` where there is one, else `final`.
        """
        return None

    def undo_of_rest(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        """(kind, inputs) of the plan that takes away what a failed or cancelled operation left."""
        return self.undo(plan)


def _unknown_step(kind: OperationKind, context: StepContext) -> Done:
    del context
    raise StepFailedError("unknown-step", detail_of("failed/unknown-step", kind=kind.name))


_KINDS: dict[str, OperationKind] = {}


def register(kind: OperationKind) -> None:
    """Offer a kind.

    Raises:
        ValueError: another kind has its name, two of its steps have one name, it has no row in the
            table of locks, or a step says neither what restores it nor what stays.
    """
    if kind.name in _KINDS and type(_KINDS[kind.name]) is not type(kind):
        raise ValueError(f"two kinds are called {kind.name}")
    names = [spec.name for spec in kind.steps]
    if len(set(names)) < len(names):
        raise ValueError(f"two steps of {kind.name} have one name: {', '.join(names)}")
    if kind.name not in LOCKS:
        raise ValueError(f"{kind.name} has no row in the table of locks")
    open_ends = gaps(kind.steps, cancellable=kind.cancellable)
    if open_ends:
        raise ValueError(f"{kind.name}: {'; '.join(open_ends)}")
    _KINDS[kind.name] = kind


def kind_of(name: str) -> OperationKind | None:
    return _KINDS.get(name)


def required_kind(name: str) -> OperationKind:
    """The kind of this name.

    Raises:
        Problem: there is none.
    """
    kind = kind_of(name)
    if kind is None:
        raise field_problem("/kind", f"A kind is one of: {', '.join(kind_names())}.", "choice")
    return kind


def kind_names() -> list[str]:
    return sorted(_KINDS)
