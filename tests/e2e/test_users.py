"""A user's password changed over and back, its quotas, its end: each from the login."""

import os

from playwright.sync_api import expect

from tests.e2e.flows import undo
from tests.e2e.pages import Console
from tests.e2e.rest import Rest

USER = f"e2e-kept-{os.getpid()}"


def test_a_password_is_changed_and_the_old_one_ended(arrived: Console, rest: Rest) -> None:
    cluster_id, page = arrived.cluster_id, arrived.page
    rest.new_user(cluster_id, USER)
    arrived.visit("Access")
    menu_of(arrived, "New password")
    arrived.click("Review plan")
    expect(arrived.plan()).to_contain_text(USER)
    arrived.confirm()
    arrived.click("Show password")
    expect(arrived.dialog()).to_contain_text("cannot be shown again")
    arrived.close_dialog()
    row = arrived.row("Users", USER)
    expect(row).to_contain_text("Two passwords")
    assert len(mechanisms(rest, cluster_id)) == 2

    menu_of(arrived, "End the old password now")
    expect(arrived.plan()).to_contain_text("is not known, so it does not come back")
    arrived.confirm()
    arrived.close_dialog()
    expect(row).not_to_contain_text("Two passwords")
    assert len(mechanisms(rest, cluster_id)) == 1
    assert page.get_by_role("dialog").count() == 0


def test_a_change_of_password_is_undone(arrived: Console, rest: Rest) -> None:
    """The new one ends, and clients go on with the old one."""
    before = mechanisms(rest, arrived.cluster_id)
    arrived.visit("Access")
    menu_of(arrived, "New password")
    arrived.click("Review plan")
    arrived.plan()
    undo(arrived, arrived.confirm())
    assert mechanisms(rest, arrived.cluster_id) == before


def test_quotas_are_set_changed_and_put_back(arrived: Console, rest: Rest) -> None:
    cluster_id, page = arrived.cluster_id, arrived.page
    arrived.visit("Access")
    page.get_by_role("tab", name="Quotas").click()
    arrived.click("Set quotas")
    form = arrived.dialog()
    form.get_by_role("combobox", name="User").or_(form.get_by_role("textbox", name="User")).fill(
        USER
    )
    page.keyboard.press("Escape")
    form.get_by_label("Produces at most").fill("1")
    arrived.click("Review plan")
    expect(arrived.plan()).to_contain_text(USER)
    arrived.confirm()
    arrived.close_dialog()
    expect(arrived.row("Quotas", USER)).to_contain_text("1 MiB")
    assert quotas(rest, cluster_id)["producer_byte_rate"] == 1_048_576

    page.get_by_role("button", name=f"Change the quotas of user {USER}").click()
    form.get_by_label("Produces at most").fill("2")
    arrived.click("Review plan")
    arrived.plan()
    operation_id = arrived.confirm()
    assert quotas(rest, cluster_id)["producer_byte_rate"] == 2_097_152
    undo(arrived, operation_id)
    assert quotas(rest, cluster_id)["producer_byte_rate"] == 1_048_576


def test_a_user_is_deleted_after_its_name_was_typed(arrived: Console, rest: Rest) -> None:
    arrived.visit("Access")
    menu_of(arrived, "Delete user")
    expect(arrived.plan()).to_contain_text("a user made again has another password")
    arrived.confirm()
    arrived.close_dialog()
    expect(arrived.row("Users", USER)).to_have_count(0)
    assert mechanisms(rest, arrived.cluster_id) == []


def menu_of(console: Console, item: str) -> None:
    console.page.get_by_label(f"Actions for {USER}", exact=True).click()
    console.page.get_by_role("menuitem", name=item).click()


def mechanisms(rest: Rest, cluster_id: str) -> list[str]:
    users = rest.get(f"/api/v1/clusters/{cluster_id}/users")["data"]
    return next((row["mechanisms"] for row in users if row["username"] == USER), [])


def quotas(rest: Rest, cluster_id: str) -> dict[str, float]:
    rows = rest.get(f"/api/v1/clusters/{cluster_id}/quotas")["data"]
    found: dict[str, float] = next(row["quotas"] for row in rows if row["words"] == f"user {USER}")
    return found
