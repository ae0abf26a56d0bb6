"""What a plan hits, measured once more by the step that is about to do it.

Confirming checks it too; between the two an operation may wait for its turn, and clients write on.
"""

from controlplane.audit.services import Actor
from controlplane.operations.blast_radius import grown, growth_text
from controlplane.operations.details import detail_of
from controlplane.operations.operations import (
    OperationKind,
    PlanContext,
    StepContext,
    StepFailedError,
)


def require_reach(kind: OperationKind, context: StepContext) -> None:
    """Raises StepFailedError: `blast-radius-changed`; nothing of the step has been done then."""
    plan = context.operation.plan
    planned = plan.impact.get("blast_radius", [])
    if not planned:
        return
    asked = PlanContext(
        tenant=context.tenant, cluster_id=plan.cluster_id, actor=Actor(name=plan.created_by)
    )
    now = kind.blast_radius_now(asked, plan)
    # Kept with the operation, which is read by who does not see them all.
    changes = grown(planned, [extent.as_row() for extent in now], lambda _area, _name: False)
    if changes:
        raise StepFailedError(
            "blast-radius-changed",
            detail_of("failed/more-is-hit", changes=". ".join(map(growth_text, changes))),
            changes=changes,
        )
