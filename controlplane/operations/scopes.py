"""Whether a scope covers what a plan or an operation is about: the one place that says so.

Plans are asked twice when they are made, by what their inputs name before anything is read, and by
what the kind found; and again by each confirmation, cancellation and undoing, with what the caller
may then. Refusals before the first look at a cluster are the same whatever there is.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Left
from django.db.models.lookups import Exact

from controlplane.audit.services import About
from controlplane.common.grants import Area, Grant, Match, Over, Pattern, Scope, Verb
from controlplane.common.problems import Forbidden, NotFound
from controlplane.operations.locks import LOCKS, Resource
from controlplane.operations.models import Operation, Plan
from controlplane.operations.naming import Sees, everything
from controlplane.operations.operations import OperationKind, required_kind
from controlplane.operations.permissions import NAMED, row_of

ClusterNames = Callable[[str], Mapping[str, str]]
"""Names by id of every cluster that a tenant has or had."""
WORDS = {
    Area.OUTLINE: "the cluster",
    Area.CLUSTER: "the whole cluster",
    Area.ACCESS: "the whole cluster, for its users and rules",
    Area.TOPIC: "every topic that this is about",
    Area.GROUP: "the group",
}
_cluster_names: ClusterNames | None = None


def use_cluster_names(names: ClusterNames) -> None:
    """The app of clusters, which is above this one, says what they are called."""
    global _cluster_names  # noqa: PLW0603 - one process, one such app
    _cluster_names = names


def cluster_names(tenant_id: str) -> Mapping[str, str]:
    return _cluster_names(tenant_id) if _cluster_names else {}


class Need(NamedTuple):
    """One thing that has to be allowed; an area that goes by cluster has no name."""

    verb: Verb
    area: Area
    name: str = ""


Names = Callable[[Resource, Plan], Iterable[str]]


def needs_of(kind: OperationKind, plan: Plan, names: Names) -> list[Need]:
    """What the plan needs on its cluster, each thing once."""
    found = []
    for area, verb in row_of(kind.name).items():
        if area not in NAMED:
            found.append(Need(verb, area))
            continue
        resources = [each for each in NAMED[area] if each in LOCKS[kind.name]]
        named = {name for resource in resources for name in names(resource, plan)}
        found += [Need(verb, area, name) for name in sorted(named)]
    found += [Need(Verb.READ, area, name) for area, name in kind.also_read(plan)]
    return found


def may_plan(scope: Scope, kind_name: str, cluster: str, names: Mapping[Area, str]) -> bool:
    """Whether a plan of the kind would be refused for want of a right, as far as names are known.

    For offers alone: a plan that is made asks itself.
    """
    return all(
        scope.allows(verb, area, cluster, names.get(area, ""))
        for area, verb in row_of(kind_name).items()
    )


def check_asked(scope: Scope, kind: OperationKind, plan: Plan) -> None:
    """By the inputs alone.

    Raises:
        NotFound: the cluster is not covered, as if it were not there.
        Forbidden: what the inputs name is not covered, whether it is there or not.
    """
    if not scope.allows(Verb.WRITE, Area.TENANT):
        _check(scope, plan, needs_of(kind, plan, kind.asked_names))


def check_planned(scope: Scope, plan: Plan) -> None:
    """By what the plan has turned out to be about. Raises as `check_asked`."""
    if not scope.allows(Verb.WRITE, Area.TENANT):
        kind = required_kind(plan.kind)
        _check(scope, plan, needs_of(kind, plan, kind.lock_names))


def _check(scope: Scope, plan: Plan, needs: Iterable[Need]) -> None:
    cluster = _cluster_name(plan, cluster_names(plan.tenant_id))
    if plan.cluster_id is not None and not scope.sees(Area.OUTLINE, cluster):
        raise NotFound("Cluster not found.")
    for need in needs:
        if not scope.allows(need.verb, need.area, cluster, need.name):
            raise missing_role(need.area, need.verb)


def missing_role(area: Area, verb: Verb = Verb.READ) -> Forbidden:
    """The refusal, which says nothing of what there is."""
    role = "operator" if verb is Verb.WRITE else "viewer"
    return Forbidden(f"This needs the role {role} on {WORDS[area]}.")


def is_seen(scope: Scope, plan: Plan, names: Mapping[str, str], cluster_id: str | None) -> bool:
    """Whether everything that the plan is about may be read.

    `cluster_id` is that of the plan's operation, which may have made the cluster.
    """
    kind = required_kind(plan.kind)
    cluster = names.get(cluster_id or "", "") or _cluster_name(plan, names)
    return all(
        scope.sees(need.area, cluster, need.name) for need in needs_of(kind, plan, kind.lock_names)
    )


def sight(scope: Scope, plan: Plan) -> Sees:
    """Whether the scope shows a thing on the plan's cluster."""
    if scope.sees_all:
        return everything
    cluster = _cluster_name(plan, cluster_names(plan.tenant_id))
    return lambda area, name: scope.sees(area, cluster, name)


def about(plan: Plan, cluster_id: str | None) -> About:
    """What the plan is about, for the record."""
    kind = required_kind(plan.kind)
    # A plan about a cluster itself says its name; nothing has to be looked up then.
    area, _, cluster_name = plan.resource.partition("/")
    if area != "cluster":
        names = cluster_names(plan.tenant_id)
        cluster_name = names.get(cluster_id or "", "") or _cluster_name(plan, names)
    return About(
        cluster_id=cluster_id,
        cluster_name=cluster_name,
        touches=[(need.area.value, need.name) for need in needs_of(kind, plan, kind.lock_names)],
    )


def require_seen(scope: Scope, plan: Plan, missing: str, cluster_id: str | None = None) -> None:
    """Raises NotFound with the words of `missing`: what is not covered is not there."""
    if not shows(scope, plan, cluster_id):
        raise NotFound(missing)


def shows(scope: Scope, plan: Plan, cluster_id: str | None = None) -> bool:
    """As `is_seen`; who sees all of the tenant costs no look at its clusters."""
    if scope.sees_all:
        return True
    return is_seen(scope, plan, cluster_names(plan.tenant_id), cluster_id or plan.cluster_id)


def _cluster_name(plan: Plan, names: Mapping[str, str]) -> str:
    """Of a plan that adds a cluster: the name that it will have."""
    if plan.cluster_id is not None:
        return names.get(plan.cluster_id, "")
    area, _, name = plan.resource.partition("/")
    return name if area == "cluster" else str(plan.inputs.get("name", ""))


def only_seen(
    rows: QuerySet[Operation], scope: Scope, names: Mapping[str, str]
) -> QuerySet[Operation]:
    """Rows whose main resource may be read; `is_seen` has the last word on each."""
    return rows if scope.sees_all else rows.filter(seen_q(scope, names))


def seen_q(scope: Scope, names: Mapping[str, str]) -> Q:
    """Rows with `cluster_id` and `resource` (`topic/orders`) that a scope covers.

    Names are compared by code points, as `Pattern` does it: LIKE folds case on SQLite.
    """
    found = Q()
    for layer in scope.layers:
        found &= _any(_granted(grant, names) for grant in layer)
    return found if scope.layers else Q(pk__in=[])


def _any(parts: Iterable[Q]) -> Q:
    found = Q(pk__in=[])
    for part in parts:
        found |= part
    return found


def _granted(grant: Grant, names: Mapping[str, str]) -> Q:
    if Verb.READ not in grant.verbs:
        return Q(pk__in=[])
    covered = [id_ for id_, name in names.items() if grant.clusters.covers(name)]
    on_them = Q(cluster_id__in=covered)
    if grant.over is Over.CLUSTER:
        new = Q(cluster_id=None) & _matching("cluster", grant.clusters)
        return on_them | new
    return on_them & _matching(grant.over.value, grant.names)


def _matching(area: str, pattern: Pattern) -> Q:
    begin = f"{area}/{pattern.name}"
    if pattern.match is Match.LITERAL:
        return Q(resource=begin)
    return Q(Exact(Left(F("resource"), len(begin)), Value(begin)))
