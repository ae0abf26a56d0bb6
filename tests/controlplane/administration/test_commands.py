"""`manage.py`: what administers, one line for an error, JSON for scripts."""

import io
import json
import re
import sys

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from controlplane.administration.services.invitations import accept_password, find_invitation
from controlplane.audit.models import AuditEvent
from controlplane.common.problems import Gone
from controlplane.tenants.authentication import find_key
from controlplane.tenants.models import Membership, Tenant
from controlplane.tenants.services import membership_ensure
from tests.controlplane.administration.helpers import PASSWORD
from tests.controlplane.support import ACTOR, tenant_make

pytestmark = pytest.mark.django_db


def run(*words):
    """What the command says with --json, as values."""
    said = io.StringIO()
    call_command(*words, "--json", stdout=said)
    return json.loads(said.getvalue())


def refusal(*words):
    with pytest.raises(CommandError) as refused:
        call_command(*words)
    text = str(refused.value)
    assert "\n" not in text
    return text


def token_of(link):
    assert link.startswith("https://penstock.example/invitation#psi_")
    return link.partition("#")[2]


FIRST = ("first_run", "root", "acme", "--url", "https://penstock.example/")


# -- the first run ------------------------------------------------------------------------------
def test_the_first_run_makes_an_operator_who_owns_a_tenant():
    made = run(*FIRST, "--tenant-name", "Acme")
    accept_password(token=token_of(made["link"]), password=PASSWORD, actor=ACTOR)
    user = User.objects.get()
    assert (user.username, user.is_staff, user.is_superuser) == ("root", True, False)
    assert Membership.objects.get(user=user).role == "owner"
    assert Tenant.objects.get().name == "Acme"
    assert "root runs this platform already" in refusal(*FIRST)
    assert "root runs this platform already" in refusal("first_run", "eve", "acme")
    assert User.objects.count() == 1


def test_the_first_run_may_run_again_until_the_link_is_used():
    first, second = run(*FIRST), run(*FIRST)
    with pytest.raises(Gone):
        find_invitation(token_of(first["link"]))
    find_invitation(token_of(second["link"]))
    assert "begun for root" in refusal("first_run", "eve", "acme")
    assert (User.objects.count(), Tenant.objects.count(), Membership.objects.count()) == (1, 1, 1)


def test_the_first_run_takes_a_password_from_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\nmore"))
    assert run(*FIRST, "--password-stdin") == {"operator": "root", "tenant": "acme"}
    assert User.objects.get().check_password(PASSWORD)
    monkeypatch.setattr(sys, "stdin", io.StringIO("another good password\n"))
    assert "already" in refusal(*FIRST, "--password-stdin")
    assert User.objects.get().check_password(PASSWORD)


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        (("root", "acme"), "short\n", "password: This password is too short"),
        (("root", "acme"), "", "password: This password is too short"),
        (("a b", "acme"), PASSWORD, "username: A user name is letters"),
        (("root", "A_b"), PASSWORD, "slug:"),
    ],
)
def test_a_first_run_that_will_not_do_leaves_nothing(monkeypatch, words, stdin, said):
    monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
    assert refusal("first_run", *words, "--password-stdin").startswith(said)
    assert not User.objects.exists()
    assert not Tenant.objects.exists()


# -- the rest -----------------------------------------------------------------------------------
def test_a_tenant_lives(world):
    assert run("tenant", "create", "fresh")["name"] == "fresh"
    assert run("tenant", "rename", "fresh", "Fresh")["name"] == "Fresh"
    assert {row["slug"] for row in run("tenant", "list")} == {"acme", "fresh"}
    assert "can become suspended" in refusal("tenant", "close", "fresh")
    for action, state in (
        ("suspend", "suspended"), ("close", "closed"), ("resume", "suspended"), ("resume", "active"),
    ):  # fmt: skip
        assert run("tenant", action, "fresh")["state"] == state
    run("tenant", "suspend", "acme")
    assert "cluster main" in refusal("tenant", "close", "acme")
    assert run("tenant", "show", "acme")["remains"][0]["name"] == "main"
    assert refusal("tenant", "create", "acme") == "There is a tenant acme already."
    assert re.match(r"slug: (?!slug:)", refusal("tenant", "create", "No\nGood"))
    assert refusal("tenant", "show", "none") == "There is no tenant none."
    assert AuditEvent.objects.filter(action="tenant.close").get().actor.startswith("manage.py:")


def test_users_and_members():
    tenant_make()
    url = ("--url", "https://penstock.example")
    made = run("user", "create", "ada", "--email", "ada@example.com", *url)
    accept_password(token=token_of(made["link"]), password=PASSWORD, actor=ACTOR)
    assert run("member", "add", "acme", "ada", "owner")["role"] == "owner"
    assert "last owner" in refusal("member", "role", "acme", "ada", "viewer")
    assert "last owner" in refusal("member", "remove", "acme", "ada")
    run("user", "create", "bob", *url)
    run("member", "add", "acme", "bob", "owner")
    assert run("member", "role", "acme", "ada", "viewer")["role"] == "viewer"
    assert [row["username"] for row in run("member", "list", "acme")] == ["ada", "bob"]
    assert run("member", "remove", "acme", "ada")["invitations_revoked"] == 0
    assert run("user", "deactivate", "bob")["tenants_without_owner"] == ["acme"]
    assert "has ended" in refusal("user", "link", "bob")
    token_of(run("user", "activate", "bob", *url)["link"])
    token_of(run("user", "link", "bob", *url)["link"])
    assert run("user", "operator", "ada", "yes")["is_operator"] is True
    assert "last operator" in refusal("user", "operator", "ada", "no")
    token_of(run("member", "invite", "acme", "viewer", "--note", "Eve", *url)["link"])
    assert {row["username"] for row in run("user", "list")} == {"ada", "bob"}
    assert refusal("user", "create", "ADA", *url).startswith("username: ")
    assert refusal("user", "create", "eve", "--email", "none", *url).startswith("email: ")
    assert refusal("member", "add", "acme", "nobody", "owner") == "User not found."


def test_invitations_are_listed_and_revoked():
    tenant_make()
    url = ("--url", "https://penstock.example")
    token = token_of(run("member", "invite", "acme", "viewer", "--note", "Eve", *url)["link"])
    (row,) = run("member", "invitations", "acme")
    assert (row["role"], row["note"], row["state"]) == ("viewer", "Eve", "open")
    assert token not in json.dumps(row)
    tenant_make("rival")
    gone = "Invitation not found."
    assert refusal("member", "revoke-invitation", "rival", row["id"]) == gone
    find_invitation(token)
    assert run("member", "revoke-invitation", "acme", row["id"])["state"] == "revoked"
    with pytest.raises(Gone):
        find_invitation(token)
    assert refusal("member", "revoke-invitation", "acme", row["id"]) == gone
    recorded = AuditEvent.objects.get(action="invitation.revoke")
    assert recorded.actor.startswith("manage.py:")
    assert run("member", "invitations", "rival") == []


TEAM = {"match": "prefix", "name": "team-a-"}
ANY = {"match": "any", "name": ""}
MAIN = {"match": "literal", "name": "main"}


def grant(role, over="cluster", names=ANY, clusters=ANY):
    return {"role": role, "clusters": clusters, "over": over, "names": names}


@pytest.mark.parametrize(
    ("words", "row"),
    [
        (("viewer",), grant("viewer")),
        (("operator", "topic-prefix=team-a-"), grant("operator", "topic", TEAM)),
        (
            ("operator", "cluster=main", "group-prefix=team-a-"),
            grant("operator", "group", TEAM, MAIN),
        ),
        (("viewer", "topics", "cluster-prefix=team-a-"), grant("viewer", "topic", ANY, TEAM)),
        (("viewer", "group=a=b"), grant("viewer", "group", {"match": "literal", "name": "a=b"})),
    ],
)
def test_grants_in_words(words, row):
    membership_ensure(tenant=tenant_make(), user=User.objects.create_user("bob"), role="viewer")
    changed = run("member", "role", "acme", "bob", "limited", "--grant", *words)
    assert (changed["role"], changed["grants"]) == ("limited", [row])
    assert run("member", "role", "acme", "bob", "limited")["grants"] == [row]
    assert run("member", "list", "acme")[0]["grants"] == [row]
    made = run("key", "create", "acme", "ci", "--scope", "limited", "--grant", *words)
    assert made["grants"] == [row]
    assert run("member", "role", "acme", "bob", "limited", "--no-grants")["grants"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("owner",), "grants/0/role: "),
        (("viewer", "topic-prefix=team"), "grants/0/names: "),
        (("viewer", "topics", "group=a"), "grant/0: group=a says nothing of a grant, or says it"),
        (("viewer", "user=a"), "grant/0: user=a says nothing"),
        (("viewer", "clusters"), "grant/0: clusters says nothing"),
        (("viewer", "topic"), "grant/0: topic says nothing"),
    ],
)
def test_words_that_are_no_grant(words, said):
    membership_ensure(tenant=tenant_make(), user=User.objects.create_user("bob"), role="viewer")
    assert refusal("member", "role", "acme", "bob", "limited", "--grant", *words).startswith(said)
    User.objects.create_user("eve")
    assert refusal("member", "add", "acme", "eve", "limited", "--grant", *words).startswith(said)
    assert Membership.objects.get().role == "viewer"


def test_keys_and_their_accounts():
    tenant_make()
    account = run("key", "account", "acme", "pipeline", "--description", "nightly")
    made = run("key", "create", "acme", "ci", "--scope", "write", "--account", "pipeline")
    assert made["service_account"] == {"id": account["id"], "name": "pipeline"}
    rotated = run("key", "rotate", "acme", made["id"], "--overlap-s", "60")
    assert find_key(made["key"])
    assert find_key(rotated["key"])
    assert run("key", "revoke", "acme", made["id"]) is None
    assert find_key(made["key"]) is None
    assert run("key", "account", "acme", "pipeline", "--disabled", "yes")["disabled"] is True
    assert find_key(rotated["key"]) is None
    assert "disabled" in refusal("key", "create", "acme", "ci", "--account", "pipeline")
    listed = run("key", "list", "acme")
    assert len(listed) == 2
    assert rotated["key"] not in json.dumps(listed)
    assert run("key", "accounts", "acme")[0]["live_keys"] == 1
    assert refusal("key", "revoke", "acme", "ak_none") == "API key not found."
    assert "no service account x" in refusal("key", "create", "acme", "ci", "--account", "x")
    assert refusal("key", "create", "acme", "ci", "--days", "0").startswith("days: ")
    assert refusal("key", "rotate", "acme", "x", "--overlap-s", "-1").startswith("overlap-s: ")


def test_hosts(world):
    assert {row["host_id"] for row in run("host", "list")} == {"host-1", "host-2", "host-3"}
    versions = run("host", "versions", "host-1")
    assert [row["name"] for row in versions["versions"]] == ["agent", "0.0.9", "0.2.0"]
    assert "has said which versions" in refusal("host", "versions", "nobody")
    assert run("host", "cordon", "host-1", "--reason", "a disk")["state_reason"] == "a disk"
    assert run("host", "drain", "host-1")["state"] == "draining"
    assert run("host", "uncordon", "host-1")["state"] == "active"
    assert len(run("host", "placement", "--brokers", "2")["placed"]) == 2
    assert run("host", "plan", "host-1", "declare-lost")["refused"][0]["code"] == "host-alive"
    assert "agent of host-1 lives" in refusal(
        "host", "declare-lost", "host-1", "--confirm", "host-1"
    )
    plan = world.plan("cluster.create", None, name="fresh", broker_count=1)
    (placed,) = run("host", "explain", plan.id)["placed"]
    assert (placed["host_id"], placed["reason"][:5]) == ("host-1", "rack ")
    assert placed["reason_code"] == "placed"
    del plan.preconditions["explained"]["said"]  # as an earlier version kept it
    plan.save()
    (placed,) = run("host", "explain", plan.id)["placed"]
    assert (placed["reason"][:5], placed["reason_code"]) == ("rack ", None)
    assert refusal("host", "explain", "pl_none").startswith("There is no plan that places brokers")
    made = run("host", "token", "new-1", "--note", "rack b")
    assert made["token"].startswith("psj_")
    assert [row["id"] for row in run("host", "tokens")] == [made["id"]]
    run("host", "revoke-token", made["id"])
    assert run("host", "tokens")[0]["state"] == "revoked"
    assert refusal("host", "token", "../x").startswith("a host's name has letters")
    assert refusal("host", "token", "x", "--lifetime-s", "5").startswith("--lifetime-s")
    assert refusal("host", "placement", "--brokers", "31").startswith("--brokers")
    printed = run("host", "add", "new-1")["run"]
    assert "manage.py zookeeper host new-1 " in printed
    assert "manage.py secrets host-key new-1 " in printed
    assert "agent of host-1 lives" in refusal("host", "remove", "host-1")
    assert refusal("host", "drain", "none") == "Host not found."
    world.hosts.is_away = True
    assert refusal("host", "list").startswith("ZooKeeper does not answer")


def test_people_read_columns(world):
    said = io.StringIO()
    call_command("tenant", "list", stdout=said)
    head, row = said.getvalue().splitlines()
    assert head.split()[:3] == ["id", "slug", "name"]
    assert row.split()[1:4] == ["acme", "Acme", "active"]
