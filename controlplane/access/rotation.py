"""user.rotate."""

from typing import Any

from controlplane.access.inputs import UserInputs
from controlplane.access.operations_base import (
    UserKind,
    check_not_service_user,
    keep_new_password,
)
from controlplane.access.readings import existing_mechanisms, mechanisms_of
from controlplane.gateway.port import BrokerView
from controlplane.operations.models import Operation, Plan
from controlplane.operations.operations import (
    Done,
    PlanContext,
    PlanDraft,
    StepContext,
    StepSpec,
    Wait,
    warning,
)
from controlplane.operations.read_back import read_back_everywhere, verified_by
from controlplane.operations.risks import Risk
from controlplane.operations.services import secret_peek


class UserRotate(UserKind):
    """A new password for an existing user; open connections go on."""

    name = "user.rotate"
    risks = frozenset({Risk.LOSES_ACCESS})
    final = "the old password does not come back"
    inputs = UserInputs

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway, username = self.gateway(context), inputs["username"]
        check_not_service_user(username)
        mechanisms = existing_mechanisms(gateway, username)
        return PlanDraft(
            resource=f"user/{username}",
            diff={
                "before": {"mechanisms": mechanisms},
                "after": {"mechanisms": mechanisms, "password": "new"},
            },
            summary=f"Give {username} a new password.",
            preconditions={"mechanisms": mechanisms},
            warnings=[
                warning(
                    "old-password-ends",
                    "The old password is refused at the next connection of each client.",
                )
            ],
        )

    def prepare(self, operation: Operation, plan: Plan) -> None:
        mechanisms = plan.preconditions["mechanisms"]
        keep_new_password(operation, plan.inputs["username"], ",".join(mechanisms))

    def store_credential(self, context: StepContext) -> Done:
        gateway, mechanisms = self.gateway(context), context.preconditions["mechanisms"]
        password = secret_peek(context.operation)["password"]
        for mechanism in mechanisms:
            gateway.upsert_user(context.inputs["username"], mechanism, password)
        return Done(detail=", ".join(mechanisms))

    def verify(self, context: StepContext) -> Done | Wait:
        wanted = set(context.preconditions["mechanisms"])

        def differing(view: BrokerView, _broker: int) -> str | None:
            missing = wanted - set(mechanisms_of(view, context.inputs["username"]))
            return "the user is not seen yet" if missing else None

        return read_back_everywhere(context, self.gateway(context), differing)

    steps = (
        StepSpec(
            name="credential",
            title="Store the new password",
            run=store_credential,
            stays="The old password may be refused now, and the new one is not shown: give the user"
            " a new password once more.",
        ),
        verified_by(verify),
    )
