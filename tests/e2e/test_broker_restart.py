"""A broker is stopped and started again from the cluster's page."""

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import Console
from tests.e2e.rest import Rest


@pytest.fixture
def console(arrived: Console) -> Console:
    """From the login on."""
    return arrived


# What is there is in sync again when it has ended, but leaders have moved.
@pytest.mark.slow
def test_a_broker_is_restarted(console: Console, rest: Rest) -> None:
    path = f"/api/v1/clusters/{console.cluster_id}"
    broker = rest.get(path)["brokers"][-1]
    console.visit("Brokers")
    console.choose_from_menu(f"Actions for broker {broker['id']}", "Restart broker")
    plan = console.plan()
    expect(plan).to_contain_text(f"Stop and start broker {broker['id']}")
    expect(plan).to_contain_text("This cannot be undone: there is nothing to put back.")
    console.confirm()
    after = rest.get(path)["brokers"][-1]
    assert (after["id"], after["alive"]) == (broker["id"], True)
    assert after["pid"] != broker["pid"]
    console.open()
    expect(console.row("Brokers", str(after["pid"]))).to_contain_text("Alive")
