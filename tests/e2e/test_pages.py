"""Each page shows what REST says: real values, as a person reads them."""

import re

from playwright.sync_api import expect

from tests.e2e.pages import Console, group_path, topic_path
from tests.e2e.rest import Rest


def test_overview(console: Console, rest: Rest) -> None:
    console.page.goto("/")
    console.settled()
    clusters = rest.get("/api/v1/clusters")["data"]
    for cluster in clusters:
        row = console.row("Clusters", cluster["name"])
        expect(row).to_contain_text(f"{len(cluster['brokers'])} of {len(cluster['brokers'])}")
        expect(row).to_contain_text("Running")
    expect(console.figure("Clusters")).to_contain_text(f"{len(clusters)} running")


def test_cluster_and_its_brokers(console: Console, rest: Rest) -> None:
    console.open()
    cluster = rest.get(f"/api/v1/clusters/{console.cluster_id}")
    expect(console.page.get_by_role("heading", level=1)).to_have_text(cluster["name"])
    expect(console.figure("Controller")).to_have_text(f"broker {cluster['controller_id']}")
    for broker in cluster["brokers"]:
        row = console.row("Brokers", f"{broker['host']}:{broker['port']}")
        expect(row).to_contain_text("Alive")
        expect(row).to_contain_text(str(broker["pid"]))
    expect(console.page.locator("pre").first).to_contain_text(cluster["bootstrap_servers"])


def test_topics(console: Console, rest: Rest) -> None:
    console.open("topics")
    rows = rest.get(f"/api/v1/clusters/{console.cluster_id}/topics")["data"]
    for topic in [row for row in rows if row["name"].startswith("demo.")]:
        row = console.row("Topics", topic["name"])
        expect(row).to_contain_text("In sync")
        expect(row.get_by_role("cell").nth(2)).to_have_text(str(topic["partitions"]))
    expect(console.row("Topics", "__consumer_offsets")).to_have_count(0)
    console.page.get_by_role("switch", name="Internal topics").click(force=True)
    expect(console.row("Topics", "__consumer_offsets")).to_have_count(1)
    console.page.get_by_label("Search topics").fill("orders")
    expect(console.table("Topics").get_by_role("row")).to_have_count(2)
    expect(console.page).to_have_url(re.compile("q=orders"))


def test_topic_with_its_partitions(console: Console, rest: Rest) -> None:
    console.open("topics/demo.orders")
    topic = rest.get(topic_path(console.cluster_id, "demo.orders"))
    rows = console.table("Partitions").locator("tbody tr")
    expect(rows).to_have_count(len(topic["partitions"]))
    for partition in topic["partitions"]:
        row = rows.nth(partition["partition"])
        expect(row).to_contain_text(f"broker {partition['leader']}")
        for replica in partition["replicas"]:
            expect(row.locator(".ps-chip", has_text=str(replica))).to_be_visible()
        # The workload goes on writing: what the page says is between now and a moment ago.
        shown = int(row.locator("[data-column=log_end]").inner_text().replace(",", ""))
        now = rest.get(topic_path(console.cluster_id, "demo.orders"))["partitions"]
        assert 0 < shown <= now[partition["partition"]]["log_end"]
        assert row.locator("[data-column=size_bytes]").inner_text().endswith("iB")
    console.page.get_by_role("tab", name="Configuration").click()
    kept = console.row("Configuration", "retention.ms").first
    expect(kept).to_contain_text("86400000")
    expect(kept).to_contain_text("this topic")


def test_groups_and_one_group_with_its_lag(console: Console, rest: Rest) -> None:
    console.open("groups")
    rows = rest.get(f"/api/v1/clusters/{console.cluster_id}/groups")["data"]
    names = [row["group"] for row in rows if row["group"].startswith("demo-")]
    assert "demo-fraud-check" in names
    for name in names:
        expect(console.row("Consumer groups", name)).to_contain_text("Stable")
    console.page.get_by_role("link", name="demo-fraud-check").click()
    console.settled()
    group = rest.get(group_path(console.cluster_id, "demo-fraud-check"))
    expect(console.figure("Members")).to_contain_text(str(len(group["members"])))
    offsets = console.table("Offsets").locator("tbody tr")
    expect(offsets).to_have_count(len(group["offsets"]))
    shown = [
        int(row.inner_text().replace(",", ""))
        for row in console.table("Offsets").locator("[data-column=committed]").all()
        if row.inner_text() != "none"
    ]
    again = rest.get(group_path(console.cluster_id, "demo-fraud-check"))["offsets"]
    assert 0 < sum(shown) <= sum(row["committed"] or 0 for row in again)
    console.page.get_by_role("tab", name=re.compile("Members")).click()
    expect(console.row("Members", "demo-fraud-check-1")).to_contain_text("demo.orders")


def test_access(console: Console, rest: Rest) -> None:
    console.open("access")
    users = rest.get(f"/api/v1/clusters/{console.cluster_id}/users")["data"]
    for user in users:
        expect(console.row("Users", user["username"]).first).to_contain_text(user["mechanisms"][0])
    console.page.get_by_role("tab", name=re.compile("ACLs")).click()
    expect(console.row("ACLs", "User:demo-app").first).to_contain_text("may")
    console.page.get_by_role("tab", name="Matrix").click()
    expect(console.row("Access matrix", "User:demo-app").first).to_contain_text("read")


def test_operations_and_one_with_its_plan(console: Console, rest: Rest) -> None:
    # Others may have begun operations since: the newest one of the page that is over.
    found = rest.get("/api/v1/operations")["data"]
    created = next(row for row in found if row["state"] in {"succeeded", "reverted"})
    console.page.goto("/operations")
    console.settled()
    console.page.locator(f"a[href*='{created['id']}']").first.click()
    console.settled()
    expect(console.page).to_have_url(re.compile(created["id"]))
    steps = console.page.get_by_role("list", name="Steps").get_by_role("listitem")
    for step in created["steps"]:
        if step["state"] == "done":
            expect(steps.filter(has_text=step["title"])).to_have_count(1)
    expect(console.page.get_by_text("The plan that was confirmed")).to_be_visible()


def test_audit(console: Console, rest: Rest) -> None:
    console.page.goto("/audit")
    console.settled()
    newest = rest.get("/api/v1/audit-events")["data"][0]
    expect(console.page.get_by_role("table").first).to_contain_text(newest["resource"])
