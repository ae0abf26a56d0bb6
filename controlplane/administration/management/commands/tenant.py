"""`manage.py tenant list|show|create|rename|suspend|resume|close`."""

from typing import Any

from controlplane.administration import selectors
from controlplane.administration.management.base import AdministrationCommand, Row, checked
from controlplane.administration.serializers import OperatorTenantInputSerializer
from controlplane.administration.services.tenants import tenant_create, tenant_update
from controlplane.tenants.models import ACTIVE, CLOSED, SUSPENDED
from controlplane.tenants.selectors import tenant_by_slug


class Command(AdministrationCommand):
    help = "Tenants: make, rename, suspend, resume, close."

    def add_actions(self, actions: Any) -> None:
        actions.add_parser("list", help="all tenants")
        made = actions.add_parser("create", help="make a tenant")
        made.add_argument("slug")
        made.add_argument("--name", help="as people call it; the slug by default")
        named = actions.add_parser("rename", help="give it another name; the slug stays")
        named.add_argument("slug")
        named.add_argument("name")
        for action, words in {
            "show": "one tenant, with its members and what remains of it",
            "suspend": "its members and keys read, and change nothing",
            "resume": "a suspended one goes on; a closed one is suspended again",
            "close": "a suspended one of which nothing remains: its keys end",
        }.items():
            actions.add_parser(action, help=words).add_argument("slug")

    def do_list(self, _options: Row) -> list[Row]:
        return [selectors.tenant_summary(row) for row in selectors.tenants().order_by("slug")]

    def do_show(self, options: Row) -> Row:
        return selectors.tenant_detail(tenant_by_slug(options["slug"]).pk)

    def do_create(self, options: Row) -> Row:
        given = {"slug": options["slug"], "name": options["name"] or options["slug"]}
        values = checked(OperatorTenantInputSerializer, given)
        return selectors.tenant_detail(tenant_create(actor=self.actor, **values).pk)

    def do_rename(self, options: Row) -> Row:
        return self._update(options["slug"], name=options["name"])

    def do_suspend(self, options: Row) -> Row:
        return self._update(options["slug"], state=SUSPENDED)

    def do_resume(self, options: Row) -> Row:
        present = tenant_by_slug(options["slug"]).state
        return self._update(options["slug"], state=SUSPENDED if present == CLOSED else ACTIVE)

    def do_close(self, options: Row) -> Row:
        return self._update(options["slug"], state=CLOSED)

    def _update(self, slug: str, *, name: str | None = None, state: str | None = None) -> Row:
        tenant = tenant_by_slug(slug)
        tenant_update(
            tenant=tenant, name=name or tenant.name, state=state or tenant.state, actor=self.actor
        )
        return selectors.tenant_detail(tenant.pk)
