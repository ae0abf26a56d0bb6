"""Reading a result back: the step that verifies a kind, and its answer while the truth differs."""

from controlplane.operations.operations import Done, Phase, Progress, StepRun, StepSpec, Wait

POLL_S = 0.2
"""How soon a step looks again where only the brokers' metadata has to follow."""


def verified_by(
    run: StepRun, *, title: str = "The brokers read it back", deadline_s: float = 30.0
) -> StepSpec:
    """The step `verify`, bound to the kind's method that compares the truth with the plan."""
    return StepSpec(name="verify", title=title, run=run, phase=Phase.VERIFY, deadline_s=deadline_s)


def read_back(
    differing: str | None,
    *,
    detail: str = "read back as planned",
    progress: Progress | None = None,
    poll_s: float = POLL_S,
) -> Done | Wait:
    """Done with `detail` when nothing differs; else Wait, which says what differs."""
    if differing:
        return Wait(seconds=poll_s, detail=differing, progress=progress)
    return Done(detail=detail, progress=progress)
