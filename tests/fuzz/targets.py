"""All targets by name."""

from __future__ import annotations

from tests.fuzz.login_targets import login_targets
from tests.fuzz.message_targets import message_targets
from tests.fuzz.record_targets import record_targets
from tests.fuzz.target import Target


def all_targets() -> dict[str, Target]:
    found = [*message_targets(), *record_targets(), *login_targets()]
    return {target.name: target for target in found}
