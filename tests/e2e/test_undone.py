"""A setting, a user and ACLs: changed and put back, each from the login to the verified undo."""

import os
import re
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.flows import plan_acls, plan_undo
from tests.e2e.looks import look
from tests.e2e.pages import Console, topic_path
from tests.e2e.rest import Rest

NAME = f"e2e.undone-{os.getpid()}"
USER = f"e2e-undone-{os.getpid()}"


def undone(console: Console, operation_id: str, screenshots: Path, name: str) -> None:
    """Planned, looked at, confirmed, verified; then the first one says that it was put back."""
    plan_undo(console, operation_id)
    look(console.page, screenshots, f"undo-{name}")
    console.press_confirm()
    console.ends_well(console.dialog().get_by_test_id("operation-live"))
    look(console.page, screenshots, f"undone-{name}")
    console.close_dialog()
    expect(console.page.get_by_role("main")).to_contain_text("Undone")


def test_a_setting_is_changed_and_put_back(arrived: Console, rest: Rest, screenshots: Path) -> None:
    cluster_id, page = arrived.cluster_id, arrived.page
    rest.run("topic.create", cluster_id, name=NAME, partitions=1, replication_factor=3)
    before = retention(rest, cluster_id)
    arrived.find_topic(NAME)
    page.get_by_role("tab", name="Configuration").click()
    page.get_by_label("Edit retention.ms", exact=True).click()
    page.get_by_label("New value of retention.ms").fill("2 hours")
    arrived.click("Review 1 change")
    expect(arrived.plan()).to_contain_text("retention.ms")
    operation_id = arrived.confirm()
    assert retention(rest, cluster_id) == ("7200000", False)
    undone(arrived, operation_id, screenshots, "topic-update")
    assert retention(rest, cluster_id) == before
    rest.run("topic.delete", cluster_id, name=NAME)


def test_a_user_is_made_and_taken_back(arrived: Console, rest: Rest, screenshots: Path) -> None:
    cluster_id, page = arrived.cluster_id, arrived.page
    arrived.visit("Access")
    arrived.click("New user")
    page.get_by_label("User name").fill(USER)
    arrived.click("Review plan")
    expect(arrived.plan()).to_contain_text(USER)
    operation_id = arrived.confirm()
    assert USER in users(rest, cluster_id)
    undone(arrived, operation_id, screenshots, "user-create")
    assert USER not in users(rest, cluster_id)
    arrived.open("access")
    expect(arrived.row("Users", USER)).to_have_count(0)


def test_acls_are_added_and_taken_back_removed_and_put_back(
    arrived: Console, rest: Rest, screenshots: Path
) -> None:
    cluster_id, page = arrived.cluster_id, arrived.page
    rest.new_user(cluster_id, USER)
    expect(plan_acls(arrived, USER, NAME)).to_contain_text(NAME)
    operation_id = arrived.confirm()
    added = acls(rest, cluster_id)
    assert {row["operation"] for row in added} == {"WRITE", "DESCRIBE"}
    undone(arrived, operation_id, screenshots, "acl-create")
    assert acls(rest, cluster_id) == []

    rest.run("acl.create", cluster_id, bindings=[binding("WRITE"), binding("DESCRIBE")])
    before = acls(rest, cluster_id)
    arrived.open("access")
    page.get_by_role("tab", name=re.compile("ACLs")).click()
    page.get_by_label("Search ACLs").fill(USER)
    rows = arrived.row("ACLs", USER)
    expect(rows).to_have_count(2)
    for box in rows.get_by_role("checkbox").all():
        box.check()
    arrived.click("Remove 2 ACLs")
    expect(arrived.plan()).to_contain_text(NAME)
    operation_id = arrived.confirm()
    assert acls(rest, cluster_id) == []
    undone(arrived, operation_id, screenshots, "acl-delete")
    assert acls(rest, cluster_id) == before
    rest.run("user.delete", cluster_id, username=USER)


def binding(operation: str) -> dict[str, str]:
    return {
        "principal": f"User:{USER}",
        "operation": operation,
        "resource_type": "TOPIC",
        "resource_name": NAME,
        "pattern_type": "LITERAL",
    }


def retention(rest: Rest, cluster_id: str) -> tuple[str, bool]:
    """Its value, and whether it is the default."""
    configs = rest.get(topic_path(cluster_id, NAME))["configs"]
    row = next(row for row in configs if row["name"] == "retention.ms")
    return row["value"], row["is_default"]


def users(rest: Rest, cluster_id: str) -> list[str]:
    return [row["username"] for row in rest.get(f"/api/v1/clusters/{cluster_id}/users")["data"]]


def acls(rest: Rest, cluster_id: str) -> list[dict[str, str]]:
    rows = rest.get(f"/api/v1/clusters/{cluster_id}/acls")["data"]
    named = ("operation", "resource_type", "resource_name", "pattern_type", "permission")
    mine = [row for row in rows if row["principal"] == f"User:{USER}"]
    return sorted(({name: row[name] for name in named} for row in mine), key=str)
