"""user.create, user.delete, acl.create, acl.delete."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from controlplane.access import rules
from controlplane.access.inputs import (
    AclInputs,
    UserCreateInputs,
    UserInputs,
    bindings_of,
    check_own_principal,
)
from controlplane.access.operations_base import (
    UserKind,
    check_not_service_user,
    keep_new_password,
    rule_keys,
)
from controlplane.access.readings import (
    acls_differing,
    acls_of,
    already_there,
    existing_mechanisms,
    mechanisms_of,
    missing_of,
    still_there,
)
from controlplane.access.selectors import open_overlap
from controlplane.access.serializers import AclDiffSerializer
from controlplane.access.services import overlap_end
from controlplane.clusters.operations_base import ClusterOperationKind, Touched
from controlplane.common.hashing import content_hash
from controlplane.common.problems import Conflict, NotFound, field_problem
from controlplane.gateway.errors import AcceptedRefusals
from controlplane.gateway.port import BrokerView
from controlplane.gateway.types import AclBinding
from controlplane.observed.sections import ACLS
from controlplane.operations.blast_radius import Extent, listed
from controlplane.operations.details import detail_of
from controlplane.operations.locks import Resource
from controlplane.operations.models import LOCK_NAME_MAX, Operation, Plan
from controlplane.operations.operations import (
    Done,
    Phase,
    PlanContext,
    PlanDraft,
    StepContext,
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import read_back, read_back_everywhere, verified_by
from controlplane.operations.risks import Risk
from controlplane.operations.services import secret_peek
from controlplane.operations.states import SUCCEEDED
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of

SERVICE_PREFIX = "penstock-"


class UserCreate(UserKind):
    """A new user with a generated password, and its first ACLs."""

    name = "user.create"
    restores = "the user is deleted, with every ACL about it"
    inputs = UserCreateInputs

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway, username = self.gateway(context), inputs["username"]
        check_not_service_user(username)
        if username.lower().startswith(SERVICE_PREFIX):
            raise field_problem(
                "/inputs/username",
                f"Names that begin with {SERVICE_PREFIX} are the service's own.",
                "reserved",
            )
        rows = inputs.setdefault("acls", [])
        check_own_principal(username, rows)
        if mechanisms_of(gateway, username):
            raise Conflict(f"There is a user {username} already.", code="name-taken")
        return PlanDraft(
            resource=f"user/{username}",
            diff={
                "before": None,
                "after": {"username": username, "mechanism": inputs["mechanism"], "acls": rows},
            },
            summary=summary_of("user.create", user=username, rules=len(rows)),
            preconditions={"exists": False, "acls_there": already_there(gateway, rows)},
            warnings=[] if rows else [warning_of("no-acls", "info")],
        )

    def prepare(self, operation: Operation, plan: Plan) -> None:
        keep_new_password(operation, plan.inputs["username"], plan.inputs["mechanism"])

    def store_credential(self, context: StepContext) -> Done:
        username, mechanism = context.inputs["username"], context.inputs["mechanism"]
        secret = secret_peek(context.operation)
        self.gateway(context).upsert_user(username, mechanism, secret["password"])
        return Done(detail=detail_of("login/mechanisms", mechanisms=mechanism))

    def add_acls(self, context: StepContext) -> Done:
        bindings = bindings_of(context.inputs.get("acls", []))
        self.gateway(context).create_acls(bindings)
        return Done(detail=detail_of("user/acls", acls=len(bindings)))

    def verify(self, context: StepContext) -> Done | Wait:
        inputs = context.inputs
        present = bindings_of(inputs.get("acls", []))

        def differing(view: BrokerView, _broker: int) -> str | None:
            if inputs["mechanism"] not in mechanisms_of(view, inputs["username"]):
                return detail_of("user/not-seen")
            return acls_differing(view, present=present)

        return read_back_everywhere(context, self.gateway(context), differing)

    def remove(self, context: StepContext) -> Done | Wait:
        """The login that this operation made, and the rules that it added."""
        gateway, inputs = self.gateway(context), context.inputs
        username, mechanism = inputs["username"], inputs["mechanism"]
        is_there = mechanism in mechanisms_of(gateway, username)
        if is_there:
            with AcceptedRefusals("RESOURCE_NOT_FOUND"):
                gateway.delete_user(username, mechanism)
        # A plan of an older version does not say which of its rules were there before.
        before = bindings_of(context.preconditions.get("acls_there", []))
        added = set(bindings_of(inputs.get("acls", []))) - set(before)
        left = still_there(gateway, added)
        if left:
            gateway.delete_acls(left)
        if is_there or left:
            return read_back(detail_of("user/left"))
        return Done(detail=detail_of("user/not-there"))

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        return "user.delete", {"username": plan.inputs["username"]}

    steps = (
        StepSpec(
            name="credential",
            title="Store the credential",
            run=store_credential,
            restored_by=("remove",),
        ),
        StepSpec(name="acls", title="Add its ACLs", run=add_acls, restored_by=("remove",)),
        verified_by(verify),
        StepSpec(
            name="remove",
            title="Remove the user and its ACLs",
            run=remove,
            phase=Phase.RESTORE,
        ),
    )


class UserDelete(UserKind):
    """Remove a user in every mechanism, and every rule about it."""

    name = "user.delete"
    risks = frozenset({Risk.LOSES_ACCESS})
    final = "a user made again has another password"
    inputs = UserInputs

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway, username = self.gateway(context), inputs["username"]
        check_not_service_user(username)
        rows = [asdict(binding) for binding in acls_of(gateway, username)]
        # Rules that a user left behind go too, though nobody can log in by that name.
        look_up = mechanisms_of if rows else existing_mechanisms
        mechanisms = look_up(gateway, username)
        standing = open_overlap(context.cluster_id, username)
        return PlanDraft(
            resource=f"user/{username}",
            diff={
                "before": {"username": username, "mechanisms": mechanisms, "acls": rows},
                "after": None,
            },
            summary=summary_of("user.delete", user=username, rules=len(rows)),
            preconditions={
                "mechanisms": mechanisms,
                "acls": rows,
                "overlap": standing.rotation_id if standing else None,
            },
            warnings=[warning_of("clients-lose-access", "danger")],
        )

    def remove_credential(self, context: StepContext) -> Done:
        gateway, username = self.gateway(context), context.inputs["username"]
        for mechanism in mechanisms_of(gateway, username):
            with AcceptedRefusals("RESOURCE_NOT_FOUND"):
                gateway.delete_user(username, mechanism)
        return Done()

    def remove_acls(self, context: StepContext) -> Done:
        bindings = bindings_of(context.preconditions["acls"])
        self.gateway(context).delete_acls(bindings)
        return Done(detail=detail_of("acl/rules", rules=len(bindings)))

    def verify(self, context: StepContext) -> Done | Wait:
        absent = bindings_of(context.preconditions["acls"])

        def differing(view: BrokerView, _broker: int) -> str | None:
            if mechanisms_of(view, context.inputs["username"]):
                return detail_of("user/still-seen")
            return acls_differing(view, absent=absent)

        return read_back_everywhere(context, self.gateway(context), differing)

    def finish(self, operation: Operation) -> None:
        # The lock on the user lets none begin meanwhile.
        if operation.state == SUCCEEDED and operation.plan.preconditions.get("overlap"):
            username = operation.plan.inputs["username"]
            overlap_end(operation.cluster_id, username, f"{operation.pk} deleted the user")

    def put_back(self, context: StepContext) -> Done | Wait:
        """The rules; the password is known to nobody, so a login that is gone stays gone."""
        gateway, username = self.gateway(context), context.inputs["username"]
        missing = missing_of(gateway, bindings_of(context.preconditions["acls"]))
        if missing:
            gateway.create_acls(missing)
            return read_back(detail_of("acl/not-seen", rules=len(missing)))
        seen = mechanisms_of(gateway, username)
        gone = sorted(set(context.preconditions["mechanisms"]) - set(seen))
        if not gone:
            return Done(detail=detail_of("back/as-before"))
        what = detail_of("remains/login-of", username=username, mechanisms=", ".join(gone))
        return Done(detail=detail_of("login/gone"), remains=(what,))

    steps = (
        StepSpec(
            name="credential",
            title="Remove the credential",
            run=remove_credential,
            restored_by=("put-back",),
            stays=detail_of("remains/login"),
        ),
        StepSpec(name="acls", title="Remove its ACLs", run=remove_acls, restored_by=("put-back",)),
        verified_by(verify),
        StepSpec(
            name="put-back",
            title="Put its ACLs back, say whether its login is gone",
            run=put_back,
            phase=Phase.RESTORE,
        ),
    )


UNCHANGED = detail_of("adopted/unchanged")


class _AclKind(ClusterOperationKind):
    """What adding and removing rules share.

    Rules about one user do not exclude each other, but they need the user to stay. Of one and the
    same rule there is one operation at a time.
    """

    inputs = AclInputs
    diff_shape = AclDiffSerializer

    def touched(self, plan: Plan) -> Touched:
        return {ACLS: rule_keys((plan.diff["before"] or []) + (plan.diff["after"] or []))}

    def lock_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        if resource is Resource.USER:
            return [row["principal"].removeprefix("User:") for row in plan.inputs["bindings"]]
        if resource is Resource.ACL:
            return [_lock_name(rule) for rule in bindings_of(plan.inputs["bindings"])]
        return super().lock_names(resource, plan)


class AclCreate(_AclKind):
    name = "acl.create"
    restores = "the rules are removed"

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        have = set(self.gateway(context).list_acls())
        added = [row for row in inputs["bindings"] if bindings_of([row])[0] not in have]
        if inputs.get("adopt"):
            return _adopted(inputs["bindings"], different=added, is_there=True)
        if not added:
            raise Conflict("Every one of these rules is there already.", code="nothing-to-do")
        return PlanDraft(
            resource=_resource(added),
            diff={"before": [], "after": added},
            summary=summary_of("acl.create", rules=len(added)),
            preconditions={"added": added},
            warnings=rules.create_warnings(bindings_of(added)),
            typed_name=_principals(added)[0],
        )

    def create(self, context: StepContext) -> Done:
        added = bindings_of(context.diff["after"])
        if context.inputs.get("adopt"):
            return Done(detail=UNCHANGED)
        self.gateway(context).create_acls(added)
        return Done(detail=detail_of("acl/rules", rules=len(added)))

    def verify(self, context: StepContext) -> Done | Wait:
        present = bindings_of(context.diff["after"])
        return read_back_everywhere(
            context,
            self.gateway(context),
            lambda view, _broker: acls_differing(view, present=present),
        )

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        if plan.inputs.get("adopt"):
            return None
        return "acl.delete", {"bindings": plan.diff["after"]}

    def remove(self, context: StepContext) -> Done | Wait:
        if context.inputs.get("adopt"):
            return Done(detail=detail_of("back/as-before"))
        gateway = self.gateway(context)
        left = still_there(gateway, bindings_of(context.diff["after"]))
        if not left:
            return Done(detail=detail_of("back/as-before"))
        gateway.delete_acls(left)
        return read_back(detail_of("acl/still-seen", rules=len(left)))

    steps = (
        StepSpec(name="create", title="Add the rules", run=create, restored_by=("remove",)),
        verified_by(verify),
        StepSpec(name="remove", title="Remove the rules", run=remove, phase=Phase.RESTORE),
    )


class AclDelete(_AclKind):
    name = "acl.delete"
    restores = "the rules are added again"

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        have = set(self.gateway(context).list_acls())
        removed = [row for row in inputs["bindings"] if bindings_of([row])[0] in have]
        if inputs.get("adopt"):
            return _adopted(inputs["bindings"], different=removed, is_there=False)
        if not removed:
            raise NotFound("None of these rules exists.")
        going = bindings_of(removed)
        return PlanDraft(
            resource=_resource(removed),
            diff={"before": removed, "after": []},
            summary=summary_of("acl.delete", rules=len(removed)),
            preconditions={"removed": removed},
            warnings=rules.delete_warnings(going, have - set(going)),
            blast_radius=[_access_lost(going, have - set(going))],
            typed_name=_principals(removed)[0],
        )

    def delete(self, context: StepContext) -> Done:
        removed = bindings_of(context.diff["before"])
        if context.inputs.get("adopt"):
            return Done(detail=UNCHANGED)
        self.gateway(context).delete_acls(removed)
        return Done(detail=detail_of("acl/rules", rules=len(removed)))

    def verify(self, context: StepContext) -> Done | Wait:
        # Of an adoption nothing was there before.
        absent = bindings_of(context.diff["before"] or context.inputs["bindings"])
        return read_back_everywhere(
            context,
            self.gateway(context),
            lambda view, _broker: acls_differing(view, absent=absent),
        )

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        if plan.inputs.get("adopt"):
            return None
        return "acl.create", {"bindings": plan.diff["before"]}

    def put_back(self, context: StepContext) -> Done | Wait:
        gateway = self.gateway(context)
        missing = missing_of(gateway, bindings_of(context.diff["before"]))
        if not missing:
            return Done(detail=detail_of("back/as-before"))
        gateway.create_acls(missing)
        return read_back(detail_of("acl/not-seen", rules=len(missing)))

    steps = (
        StepSpec(name="delete", title="Remove the rules", run=delete, restored_by=("put-back",)),
        verified_by(verify),
        StepSpec(name="put-back", title="Add the rules again", run=put_back, phase=Phase.RESTORE),
    )


def _adopted(
    given: list[dict[str, Any]], *, different: list[dict[str, Any]], is_there: bool
) -> PlanDraft:
    """The plan that takes over rules as they are. Raises Conflict: some are `different`."""
    if different:
        words = bindings_of(different)[0].words()
        said = "not there" if is_there else "there"
        raise Conflict(f"The rule “{words}” is {said}.", code="not-as-observed")
    rows = given if is_there else []
    return PlanDraft(
        resource=_resource(given),
        diff={"before": rows, "after": rows},
        summary=summary_of(
            "acl.create/adopted" if is_there else "acl.delete/adopted", rules=len(given)
        ),
        preconditions={"adopted": given},
        warnings=[warning_of("adopts", "info")],
        typed_name=_principals(given)[0],
    )


def _principals(rows: list[dict[str, Any]]) -> list[str]:
    return sorted({row["principal"] for row in rows})


def _access_lost(removed: list[AclBinding], left: set[AclBinding]) -> Extent:
    lost = rules.access_lost(removed, left)
    return listed("access", "access-lost", "right", [rule.words() for rule in lost])


def _lock_name(rule: AclBinding) -> str:
    """The rule in words; a long one is cut and told from others by its hash."""
    words = rule.words()
    if len(words) <= LOCK_NAME_MAX:
        return words
    mark = content_hash(asdict(rule))
    return f"{words[: LOCK_NAME_MAX - len(mark) - 2]}… {mark}"


def _resource(rows: list[dict[str, Any]]) -> str:
    principals = _principals(rows)
    more = f" and {len(principals) - 1} more" if len(principals) > 1 else ""
    return f"acl/{principals[0]}{more}"
