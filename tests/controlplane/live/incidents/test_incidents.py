"""Each alert rule's incident, on real processes: its cause, the alert, whoever is on call is told, its
runbook is followed by REST, the alert resolves by itself.

`make test-incidents` runs all of them side by side and prints the table; `make test` the quick ones.
"""

import pytest

from controlplane.alerts.host_rules import EVERY_BY_ID
from tests.controlplane.live.incidents.staging import STAGED, Stage
from tests.controlplane.live.incidents.world import World

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(1500)]
HEAD = (
    "| rule | runbook | cause | to firing, s | from mending to resolved, s |\n|---|---|---|---|---|"
)
RULES = [
    pytest.param(rule, marks=() if each.is_quick else pytest.mark.slow)
    for each in STAGED
    for rule in each.rules
]


@pytest.fixture(scope="module")
def stage(request, tmp_path_factory):
    """All that were asked for, side by side."""
    here = request.node.nodeid
    rules = {
        item.callspec.params["rule"]
        for item in request.session.items
        if item.nodeid.startswith(f"{here}::test_incident[")
    }
    world = World(tmp_path_factory.mktemp("incidents"))
    try:
        world.start()
        made = Stage(world, rules)
        made.start()
        yield made
    finally:
        print("\n".join(["", HEAD, *map(str, sorted(world.table, key=lambda row: row.rule))]))
        world.stop()


@pytest.mark.parametrize("rule", RULES)
def test_incident(stage, rule):
    row = stage.outcome(rule)
    assert row.runbook == EVERY_BY_ID[rule].runbook
    assert row.firing_s >= EVERY_BY_ID[rule].for_s
