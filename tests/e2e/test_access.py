"""A user and its ACLs, created and deleted in the console; the brokers apply them."""

import os
import re

import pytest
from confluent_kafka import KafkaException
from playwright.sync_api import expect

from tests.controlplane.live.clients import Clients
from tests.e2e.conftest import bootstrap_of
from tests.e2e.flows import choose_template, plan_acls
from tests.e2e.pages import Console
from tests.e2e.rest import Rest, wait_for

USER = f"e2e-shop-{os.getpid()}"
TOPIC = f"e2e.access-{os.getpid()}"


@pytest.fixture
def console(arrived: Console) -> Console:
    """From the login on."""
    return arrived


def test_a_user_is_served_only_while_an_acl_lets_it(console: Console, rest: Rest) -> None:
    rest.run("topic.create", console.cluster_id, name=TOPIC, partitions=1, replication_factor=3)
    app = Clients(bootstrap_of(rest, console.cluster_id), create_user(console))
    assert refused(app)

    add_acls(console)
    wait_for(lambda: not refused(app), 20)
    acls = rest.get(f"/api/v1/clusters/{console.cluster_id}/acls")["data"]
    mine = [row for row in acls if row["principal"] == f"User:{USER}"]
    assert {row["operation"] for row in mine} == {"WRITE", "DESCRIBE"}

    remove_acls(console)
    wait_for(lambda: refused(app), 20)
    rest.run("user.delete", console.cluster_id, username=USER)
    rest.run("topic.delete", console.cluster_id, name=TOPIC)


def test_a_user_made_with_access_is_served_at_once(console: Console, rest: Rest) -> None:
    """User and ACLs in one plan."""
    cluster_id, user, topic = console.cluster_id, f"{USER}-2", f"{TOPIC}-2"
    rest.run("topic.create", cluster_id, name=topic, partitions=1, replication_factor=3)
    console.visit("Access")
    console.click("New user")
    console.page.get_by_label("User name").fill(user)
    console.click("Next: access")
    choose_template(console, "Producer")
    console.dialog().get_by_label("Topic", exact=True).fill(topic)
    console.click("Review plan")
    plan = console.plan()
    expect(plan).to_contain_text(user)
    expect(plan).to_contain_text(topic)
    console.confirm()
    app = Clients(bootstrap_of(rest, cluster_id), shown_password(console, user))
    wait_for(lambda: not refused(app, topic), 20)
    expect(console.row("Users", user)).to_contain_text(f"describe, write {topic}")
    console.open(f"access?tab=check&who=User:{user}&op=DESCRIBE&type=TOPIC&name={topic}")
    expect(console.page.get_by_role("list", name="Deciding ACLs")).to_contain_text("may write")
    rest.run("user.delete", cluster_id, username=user)
    rest.run("topic.delete", cluster_id, name=topic)


def create_user(console: Console) -> dict[str, str]:
    """The password is shown once, to whoever asks for it first."""
    console.visit("Access")
    page = console.page
    console.click("New user")
    page.get_by_label("User name").fill(USER)
    console.click("Review plan")
    expect(console.plan()).to_contain_text(USER)
    console.confirm()
    secret = shown_password(console, USER)
    expect(console.row("Users", USER)).to_contain_text("nothing yet")
    return secret


def shown_password(console: Console, user: str) -> dict[str, str]:
    console.click("Show password")
    expect(console.dialog()).to_contain_text("cannot be shown again")
    password = console.dialog().locator("pre").inner_text().strip()
    console.close_dialog()
    return {"username": user, "password": password, "mechanism": "SCRAM-SHA-512"}


def add_acls(console: Console) -> None:
    expect(plan_acls(console, USER, TOPIC)).to_contain_text(TOPIC)
    console.confirm()
    console.close_dialog()
    expect(console.row("Users", USER)).to_contain_text(f"describe, write {TOPIC}")


def remove_acls(console: Console) -> None:
    page = console.page
    page.get_by_role("tab", name=re.compile("ACLs")).click()
    page.get_by_label("Search ACLs").fill(USER)
    rows = console.row("ACLs", USER)
    expect(rows).to_have_count(2)
    for box in rows.get_by_role("checkbox").all():
        box.check()
    console.click("Remove 2 ACLs")
    expect(console.plan()).to_contain_text(TOPIC)
    console.confirm()
    console.close_dialog()
    expect(rows).to_have_count(0)


def refused(app: Clients, topic: str = TOPIC) -> bool:
    try:
        app.produce(topic, 1)
    except KafkaException as error:
        if re.search("(?i)authoriz", str(error)):
            return True
        raise
    return False
