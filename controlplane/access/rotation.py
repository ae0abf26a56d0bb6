"""user.rotate, with or without an overlap, and user.retire, which ends one either way.

Kafka keeps one password per user and mechanism, so during an overlap the new one stands under the
mechanism that the user does not have yet. The rotation ends when both work; what is left to do is a
row (`models.PasswordOverlap`), so nothing is locked and no worker is held while the time runs.
"""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from controlplane.access.inputs import UserRetireInputs, UserRotateInputs
from controlplane.access.models import PasswordOverlap
from controlplane.access.operations_base import (
    UserKind,
    check_not_service_user,
    keep_new_password,
)
from controlplane.access.readings import existing_mechanisms, login_settings, mechanisms_of
from controlplane.access.rules import (
    LAST_LOGIN,
    OTHER_MECHANISM,
    brokers_without,
    login_warnings,
    session_s,
)
from controlplane.access.selectors import open_overlap, open_overlaps
from controlplane.access.services import (
    overlap_begin,
    overlap_end,
    overlap_end_start,
    overlap_not_ended,
    overlaps_due,
)
from controlplane.clusters.models import Cluster
from controlplane.clusters.unfinished import Unfinished
from controlplane.common.problems import Conflict, NotFound
from controlplane.common.times import iso
from controlplane.gateway.errors import AcceptedRefusals
from controlplane.gateway.port import BrokerView, ClusterGateway
from controlplane.operations.details import detail_of, together
from controlplane.operations.models import Operation, Plan
from controlplane.operations.operations import (
    Done,
    Phase,
    PlanContext,
    PlanDraft,
    StepContext,
    StepFailedError,
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import (
    brokers_named,
    read_back,
    read_back_everywhere,
    verified_by,
)
from controlplane.operations.risks import Risk
from controlplane.operations.services import secret_peek
from controlplane.operations.states import CANCELLED, FAILED, SUCCEEDED
from controlplane.operations.summaries import Summary, summary_of
from controlplane.operations.warnings import warning_of

NAMED_MAX = 10
"""Users that a warning names; of the others it says how many."""
NOT_SHOWN = detail_of("remains/password-new")


class UserRotate(UserKind):
    """A new password for an existing user; open connections go on."""

    name = "user.rotate"
    risks = frozenset({Risk.LOSES_ACCESS})
    restores = "the new password is removed, and the old one stays for good"
    final = "the old password does not come back"
    inputs = UserRotateInputs

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway, username = self.gateway(context), inputs["username"]
        check_not_service_user(username)
        mechanisms = existing_mechanisms(gateway, username)
        standing = open_overlap(context.cluster_id, username)
        preconditions = {
            "mechanisms": mechanisms,
            "overlap": standing.rotation_id if standing else None,
        }
        if inputs.get("overlap_s"):
            _check_place_for_second(username, mechanisms, standing)
            return self._overlapping(gateway, inputs, mechanisms[0], preconditions)
        warnings = [warning_of("old-password-ends")]
        if standing is not None:
            until = iso(standing.ends_at)
            row = warning_of("ends-overlap", "danger", username=username, until_at=until)
            warnings.append(row)
        return PlanDraft(
            resource=f"user/{username}",
            diff={
                "before": {"mechanisms": mechanisms},
                "after": {"mechanisms": mechanisms, "password": "new"},
            },
            summary=summary_of("user.rotate", user=username),
            preconditions=preconditions,
            warnings=warnings,
        )

    def _overlapping(
        self,
        gateway: ClusterGateway,
        inputs: dict[str, Any],
        old: str,
        preconditions: dict[str, Any],
    ) -> PlanDraft:
        username, overlap_s, new = inputs["username"], inputs["overlap_s"], OTHER_MECHANISM[old]
        settings, unknown = login_settings(gateway)
        without = brokers_without(settings, new)
        if without:
            raise Conflict(
                f"The new password would stand under {new}, which"
                f" {brokers_named(without)} does not enable (sasl.enabled.mechanisms):"
                " nobody could log in with it. Rotate at once instead.",
                code="mechanism-not-enabled",
                brokers=without,
            )
        ends_at = timezone.now() + timedelta(seconds=overlap_s)
        return PlanDraft(
            resource=f"user/{username}",
            diff={
                "before": {"mechanisms": [old]},
                "after": {
                    "mechanisms": sorted((old, new)),
                    "password": "new",
                    "new_mechanism": new,
                    "overlap_s": overlap_s,
                },
            },
            summary=summary_of("user.rotate/overlap", user=username, overlap_s=overlap_s),
            preconditions=preconditions,
            warnings=[
                warning_of(
                    "old-password-until",
                    mechanism=old,
                    overlap_s=overlap_s,
                    until_at=iso(ends_at),
                    session_s=session_s(settings),
                ),
                warning_of("mechanism-changes", new=new, old=old),
                *login_warnings(settings, unknown, new),
            ],
        )

    def prepare(self, operation: Operation, plan: Plan) -> None:
        keep_new_password(operation, plan.inputs["username"], ",".join(_set_by(plan.diff)))

    def store_credential(self, context: StepContext) -> Done:
        gateway, mechanisms = self.gateway(context), _set_by(context.diff)
        password = secret_peek(context.operation)["password"]
        for mechanism in mechanisms:
            gateway.upsert_user(context.inputs["username"], mechanism, password)
        return Done(detail=detail_of("login/mechanisms", mechanisms=", ".join(mechanisms)))

    def verify(self, context: StepContext) -> Done | Wait:
        wanted = set(context.diff["after"]["mechanisms"])

        def differing(view: BrokerView, _broker: int) -> str | None:
            missing = wanted - set(mechanisms_of(view, context.inputs["username"]))
            if not missing:
                return None
            return detail_of("login/none", mechanisms=", ".join(sorted(missing)))

        return read_back_everywhere(context, self.gateway(context), differing)

    def withdraw(self, context: StepContext) -> Done | Wait:
        """The new password of an overlap; one that has replaced the old one stays."""
        new, username = context.diff["after"].get("new_mechanism"), context.inputs["username"]
        gateway = self.gateway(context)
        seen = mechanisms_of(gateway, username)
        if not seen:
            return Done(detail=detail_of("user/gone"))
        if new is None:
            return Done(detail=detail_of("password/old-unknown"), remains=(NOT_SHOWN,))
        if new not in seen:
            return Done(detail=detail_of("back/as-before"))
        if seen == [new]:
            what = together(detail_of("remains/password-old", username=username), NOT_SHOWN)
            return Done(detail=detail_of("password/old-gone"), remains=(what,))
        with AcceptedRefusals("RESOURCE_NOT_FOUND"):
            gateway.delete_user(username, new)
        return read_back(detail_of("login/new-still-seen", mechanism=new))

    def finish(self, operation: Operation) -> None:
        if operation.state != SUCCEEDED:
            return
        if operation.plan.inputs.get("overlap_s"):
            overlap_begin(operation)
        else:
            username = operation.plan.inputs["username"]
            overlap_end(operation.cluster_id, username, f"{operation.pk} replaced both passwords")

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        new = plan.diff["after"].get("new_mechanism")
        if new is None:
            return None
        operation = getattr(plan, "operation", None)
        rotation = operation.pk if operation else ""
        inputs = {"username": plan.inputs["username"], "mechanism": new, "rotation": rotation}
        return "user.retire", inputs

    steps = (
        StepSpec(
            name="credential",
            title="Store the new password",
            run=store_credential,
            restored_by=("withdraw",),
            stays=NOT_SHOWN,
        ),
        verified_by(verify),
        StepSpec(
            name="withdraw",
            title="Remove the new password of an overlap",
            run=withdraw,
            phase=Phase.RESTORE,
        ),
    )


class UserRetire(UserKind):
    """Remove one of a user's two passwords: the old one of an overlap ends it, the new one
    takes the rotation back.
    """

    name = "user.retire"
    risks = frozenset({Risk.LOSES_ACCESS})
    final = "the password that is removed is not known, so it does not come back"
    inputs = UserRetireInputs

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway, username = self.gateway(context), inputs["username"]
        mechanism = inputs["mechanism"]
        check_not_service_user(username)
        mechanisms = existing_mechanisms(gateway, username)
        standing = open_overlap(context.cluster_id, username)
        _check_still_of(inputs.get("rotation", ""), standing, context)
        if mechanism not in mechanisms:
            raise NotFound(f"{username} has no password for {mechanism}.")
        if mechanisms == [mechanism]:
            raise Conflict(_only_password(username, mechanism), code=LAST_LOGIN)
        settings, _ = login_settings(gateway)
        return self.draft(username, mechanism, standing, {"session_s": session_s(settings)})

    def draft(
        self,
        username: str,
        mechanism: str,
        standing: PasswordOverlap | None,
        sessions: dict[str, Any] | None = None,
    ) -> PlanDraft:
        """Of a user with both mechanisms, as the plan or the overlap knows it; `sessions`: what
        was read of how long their connections go on.
        """
        left = OTHER_MECHANISM[mechanism]
        return PlanDraft(
            resource=f"user/{username}",
            diff={
                "before": {"mechanisms": sorted((mechanism, left))},
                "after": {"mechanisms": [left]},
            },
            summary=_retirement(username, mechanism, standing),
            preconditions={
                "mechanisms": sorted((mechanism, left)),
                "overlap": standing.rotation_id if standing else None,
            },
            warnings=[
                warning_of(
                    f"clients-lose-access/{'mechanism' if sessions is None else 'sessions'}",
                    "danger",
                    mechanism=mechanism,
                    left=left,
                    **(sessions or {}),
                )
            ],
        )

    def remove_credential(self, context: StepContext) -> Done:
        gateway, inputs = self.gateway(context), context.inputs
        username, mechanism = inputs["username"], inputs["mechanism"]
        seen = mechanisms_of(gateway, username)
        if mechanism not in seen:
            return Done(detail=detail_of("login/gone-already"))
        if seen == [mechanism]:
            raise StepFailedError(LAST_LOGIN, _only_password(username, mechanism))
        with AcceptedRefusals("RESOURCE_NOT_FOUND"):
            gateway.delete_user(username, mechanism)
        return Done(detail=detail_of("login/mechanisms", mechanisms=mechanism))

    def verify(self, context: StepContext) -> Done | Wait:
        mechanism = context.inputs["mechanism"]

        def differing(view: BrokerView, _broker: int) -> str | None:
            seen = mechanisms_of(view, context.inputs["username"])
            is_seen = mechanism in seen
            return detail_of("login/still-seen", mechanism=mechanism) if is_seen else None

        return read_back_everywhere(context, self.gateway(context), differing)

    def finish(self, operation: Operation) -> None:
        username = operation.plan.inputs["username"]
        if operation.state == SUCCEEDED:
            mechanism = operation.plan.inputs["mechanism"]
            how = f"{operation.pk} removed the password of {mechanism}"
            overlap_end(operation.cluster_id, username, how)
        elif operation.error:
            overlap_not_ended(operation.cluster_id, username, operation.error)

    steps = (
        StepSpec(
            name="credential",
            title="Remove the password",
            run=remove_credential,
            stays=detail_of("remains/password-removed"),
        ),
        verified_by(verify),
    )


def end_due() -> int:
    """Start what ends the overlaps whose time is over; how many were started."""
    kind = UserRetire()
    return sum(
        overlap_end_start(row, kind.name, kind.draft(row.username, row.old_mechanism, row))
        for row in overlaps_due()
    )


def overlaps_left(cluster: Cluster) -> Unfinished | None:
    """Rotations that nobody ends once the cluster is let go."""
    rows = list(open_overlaps(cluster.pk).order_by("username"))
    if not rows:
        return None
    named = ", ".join(f"{row.username} ({row.old_mechanism})" for row in rows[:NAMED_MAX])
    return Unfinished(
        keys=tuple(row.rotation_id for row in rows),
        warning=warning_of(
            "both-passwords-stay",
            "danger",
            risk=Risk.OPENS_ACCESS,
            names=named,
            more=len(rows[NAMED_MAX:]),
        ),
    )


def _set_by(diff: dict[str, Any]) -> list[str]:
    """The mechanisms under which a rotation stores its password."""
    new = diff["after"].get("new_mechanism")
    return [new] if new else list(diff["before"]["mechanisms"])


def _check_place_for_second(
    username: str, mechanisms: list[str], standing: PasswordOverlap | None
) -> None:
    if standing is not None:
        raise Conflict(
            f"Two passwords of {username} stand already, until {_minute(standing.ends_at)}. End"
            " that overlap first, or rotate at once, which replaces both.",
            code="overlap-stands",
        )
    if len(mechanisms) > 1:
        raise Conflict(
            f"{username} has a password for {' and for '.join(mechanisms)} already, and Kafka keeps"
            " one for each: there is no place for a third. Remove one of them first (user.retire),"
            " or rotate at once, which replaces both.",
            code="both-mechanisms-used",
        )


def _check_still_of(rotation: str, standing: PasswordOverlap | None, context: PlanContext) -> None:
    """An undo is of its own rotation: what a later one has made is not taken for it."""
    if not rotation or (standing is not None and standing.rotation_id == rotation):
        return
    if standing is None:
        ended = Operation.objects.filter(pk=rotation, tenant=context.tenant).first()
        if ended is not None and ended.state in {FAILED, CANCELLED} and ended.remains:
            return
    raise Conflict(
        f"The overlap that {rotation} began is over: one of its two passwords is gone already.",
        code="overlap-ended",
    )


def _only_password(username: str, mechanism: str) -> str:
    return detail_of("failed/last-login", username=username, mechanism=mechanism)


def _retirement(username: str, mechanism: str, standing: PasswordOverlap | None) -> Summary:
    if standing is None:
        return summary_of("user.retire", user=username, mechanism=mechanism)
    is_old = mechanism == standing.old_mechanism
    which = "user.retire/old" if is_old else "user.retire/new"
    return summary_of(which, user=username, mechanism=mechanism)


def _minute(at: datetime) -> str:
    """`2026-01-31 12:00 UTC`."""
    return f"{iso(at)[:16].replace('T', ' ')} UTC"
