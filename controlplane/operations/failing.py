"""What an operation failed with, beside the codes of its sentences. Pure."""

from typing import Any

from controlplane.common.problems import Problem
from controlplane.common.sentences import Param
from controlplane.operations.details import Detail, phrased, rows_of, together


def by_codes(problem: Problem) -> dict[str, Any]:
    """The problem as it is kept, with the parts of its detail where that is made of them."""
    parts = rows_of(problem.detail)
    return problem.as_dict() | ({"detail_parts": parts} if parts else {})


def took_longer(kind: str, step: str, title: str, limit_s: float, seen: str) -> Detail:
    """A step of that name and title was not done in time; `seen` is what it said last."""
    name = f"{kind}/{step}"
    code = "lead/step-took-longer" if seen else "failed/step-took-longer"
    params: dict[str, Param] = {"did_step": name, "seconds": round(limit_s)}
    return together(phrased(code, params, {"did_step": {name: title}}), seen)
