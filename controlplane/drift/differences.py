"""One thing that is not as it was left: the shape that all areas share, and its name. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, Final

from controlplane.common.hashing import content_hash
from controlplane.common.sentences import Param

TOPIC, USER, ACL, QUOTA = "topic", "user", "acl", "quota"
SETTING, REPLICAS = "setting", "replicas"
AREAS: Final = (SETTING, QUOTA, REPLICAS, TOPIC, USER, ACL)
MARK_CHARS: Final = 40
TEXT_MAX: Final = 2_000
"""Characters of a value, or of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Attributes:
    name: of a topic, user or client; of a setting its key; of a rule its words.
    field: what of it differs; empty where that is all of it.
    desired, observed: as text; null: not set.
    text, text_code, params: as `observed.drift_sentences.difference_said`.
    operation_id: that left it as desired; null: a rule of this service says so (replicas' racks).
    back, adopt: {kind, inputs} of the plans that mend it; null, with why there is none, as
        `problem_said` of the same module.
    """

    area: str
    name: str
    field: str
    desired: str | None
    observed: str | None
    operation_id: str | None
    text: str
    text_code: str
    params: Mapping[str, Param]
    back: Mapping[str, Any] | None
    back_problem: str = ""
    back_problem_code: str | None = None
    back_problem_params: Mapping[str, Param] = dataclass_field(default_factory=dict)
    adopt: Mapping[str, Any] | None
    adopt_problem: str = ""
    adopt_problem_code: str | None = None
    adopt_problem_params: Mapping[str, Param] = dataclass_field(default_factory=dict)

    @property
    def mark(self) -> str:
        """The same for the same thing, whatever its values are."""
        return content_hash([self.area, self.name, self.field])[:MARK_CHARS]

    def as_row(self) -> dict[str, Any]:
        return {
            "area": self.area,
            "name": self.name,
            "field": self.field,
            "desired": cut(self.desired),
            "observed": cut(self.observed),
            "operation_id": self.operation_id,
            "text": cut(self.text),
            "text_code": self.text_code,
            "params": {
                name: cut(value) if isinstance(value, str) else value
                for name, value in self.params.items()
            },
            "back": self.back,
            "back_problem": self.back_problem,
            "back_problem_code": self.back_problem_code,
            "back_problem_params": dict(self.back_problem_params),
            "adopt": self.adopt,
            "adopt_problem": self.adopt_problem,
            "adopt_problem_code": self.adopt_problem_code,
            "adopt_problem_params": dict(self.adopt_problem_params),
        }


def way(kind: str, **inputs: Any) -> dict[str, Any]:
    return {"kind": kind, "inputs": inputs}


def cut(text: str | None) -> str | None:
    """As rows keep it, and pages show it."""
    return text if text is None or len(text) <= TEXT_MAX else f"{text[: TEXT_MAX - 1]}…"
