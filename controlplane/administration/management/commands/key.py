"""`manage.py key list|create|rotate|revoke|account <tenant>`: machines and their API keys."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from controlplane.administration import selectors
from controlplane.administration.management.base import AdministrationCommand, Row, checked
from controlplane.administration.management.grants import add_grants, grant_rows
from controlplane.administration.serializers import OVERLAP_MAX_S, ServiceAccountInputSerializer
from controlplane.administration.services.keys import api_key_rotate, service_account_update
from controlplane.common.problems import NotFound, field_problem
from controlplane.common.times import iso
from controlplane.tenants.models import SCOPE_CHOICES, ServiceAccount, Tenant
from controlplane.tenants.selectors import api_key_dict, api_keys, tenant_by_slug
from controlplane.tenants.serializers import ApiKeyInputSerializer
from controlplane.tenants.services import api_key_create, api_key_revoke, service_account_create

DAY_S = 24 * 3600


class Command(AdministrationCommand):
    help = "Service accounts of a tenant and their API keys; a key's text is printed once."

    def add_actions(self, actions: Any) -> None:
        parsers = {
            name: actions.add_parser(name, help=words)
            for name, words in {
                "list": "the tenant's keys, without their texts",
                "create": "make a key",
                "rotate": "exchange a key for one with the same rights",
                "revoke": "end a key at once",
                "accounts": "the tenant's service accounts",
                "account": "make a service account, or enable or disable one",
            }.items()
        }
        for parser in parsers.values():
            parser.add_argument("tenant", help="its slug")
        made = parsers["create"]
        made.add_argument("name")
        made.add_argument("--scope", choices=[scope for scope, _ in SCOPE_CHOICES], default="read")
        made.add_argument("--account", help="whose it is, by name; by default called like the key")
        made.add_argument("--days", type=int, help="after how many days it ends; never by default")
        add_grants(made)
        for name in ("rotate", "revoke"):
            parsers[name].add_argument("key_id")
        parsers["rotate"].add_argument(
            "--overlap-s", type=int, default=DAY_S, help="how long the old one goes on (a day)"
        )
        parsers["account"].add_argument("name")
        parsers["account"].add_argument("--description")
        parsers["account"].add_argument("--disabled", choices=["yes", "no"])

    def do_list(self, options: Row) -> list[Row]:
        rows = api_keys(tenant_by_slug(options["tenant"])).order_by("-pk")
        return [api_key_dict(row) for row in rows]

    def do_accounts(self, options: Row) -> list[Row]:
        rows = selectors.service_accounts(tenant_by_slug(options["tenant"])).order_by("name")
        return [selectors.service_account_dict(row) for row in rows]

    def do_create(self, options: Row) -> Row:
        tenant = tenant_by_slug(options["tenant"])
        days = options["days"]
        if days is not None and not 0 < days <= 5 * 366:
            raise field_problem("/days", "A key ends after 1 to 1830 days.")
        ends_at = timezone.now() + timedelta(days=days) if days else None
        account = self._account(tenant, options["account"]) if options["account"] else None
        values = checked(
            ApiKeyInputSerializer,
            {
                "name": options["name"],
                "scope": options["scope"],
                "grants": grant_rows(options["grant"]),
                "service_account_id": account.pk if account else None,
                "expires_at": iso(ends_at),
            },
        )
        key, text = api_key_create(tenant=tenant, actor=self.actor, **values)
        return {**api_key_dict(key), "key": text}

    def do_rotate(self, options: Row) -> Row:
        overlap_s = options["overlap_s"]
        if not 0 <= overlap_s <= OVERLAP_MAX_S:
            raise field_problem("/overlap-s", f"It is a number from 0 to {OVERLAP_MAX_S}.")
        new, text, ends_at = api_key_rotate(
            tenant=tenant_by_slug(options["tenant"]),
            key_id=options["key_id"],
            overlap_s=overlap_s,
            expires_at=None,
            actor=self.actor,
        )
        return {**api_key_dict(new), "key": text, "replaced_ends_at": iso(ends_at)}

    def do_revoke(self, options: Row) -> None:
        tenant = tenant_by_slug(options["tenant"])
        api_key_revoke(tenant=tenant, key_id=options["key_id"], actor=self.actor)

    def do_account(self, options: Row) -> Row:
        tenant, name = tenant_by_slug(options["tenant"]), options["name"]
        account = ServiceAccount.objects.filter(tenant=tenant, name=name).first()
        if account is None:
            given = {"name": name, "description": options["description"] or ""}
            values = checked(ServiceAccountInputSerializer, given)
            account = service_account_create(tenant=tenant, actor=self.actor, **values)
        described, disabled = options["description"], options["disabled"]
        service_account_update(
            tenant=tenant,
            account_id=account.pk,
            description=account.description if described is None else described[:300],
            is_disabled=account.disabled_at is not None if disabled is None else disabled == "yes",
            actor=self.actor,
        )
        return selectors.service_account_detail(tenant, account.pk)

    def _account(self, tenant: Tenant, name: str) -> ServiceAccount:
        found = ServiceAccount.objects.filter(tenant=tenant, name=name).first()
        if found is None:
            raise NotFound(f"The tenant has no service account {name}.")
        return found
