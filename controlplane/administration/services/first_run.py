"""The first operator and the first tenant of a new installation."""

from django.contrib.auth.models import User
from django.db import transaction

from controlplane.administration.inputs import check_password
from controlplane.administration.services.invitations import Link, password_link, revoke_links_of
from controlplane.administration.services.logins import login_create
from controlplane.audit.services import Actor, audit_record
from controlplane.common.grants import OWNER
from controlplane.common.problems import Conflict
from controlplane.tenants.models import Tenant
from controlplane.tenants.services import membership_ensure, tenant_ensure


@transaction.atomic
def first_run(
    *, username: str, slug: str, name: str, password: str | None, actor: Actor
) -> tuple[User, Tenant, Link | None]:
    """The operator, the tenant that they own, and without a password a link to choose one.

    Raises:
        Conflict: an operator can sign in already, or another one was begun with.
        Invalid: the name or the password will not do.
    """
    operators = list(User.objects.select_for_update().filter(is_staff=True))
    able = [
        one
        for one in operators
        if one.is_active and (one.has_usable_password() or one.oidc_identities.exists())
    ]
    if able:
        raise Conflict(
            f"{able[0].get_username()} runs this platform already: others are made by"
            " `manage.py user create --operator`, a lost password by `manage.py user link`.",
            code="not-first",
        )
    user = next((one for one in operators if one.get_username() == username), None)
    if user is None and operators:
        raise Conflict(
            f"The first run was begun for {operators[0].get_username()}: run it again for them.",
            code="not-first",
        )
    if user is None:
        user = login_create(username=username, is_operator=True, password=password)
    elif password is not None:
        check_password(password, user)
        user.set_password(password)
        revoke_links_of(user)
    user.is_active = True
    user.save()
    tenant = tenant_ensure(slug=slug, name=name)
    membership_ensure(tenant=tenant, user=user, role=OWNER)
    audit_record(
        tenant_id=tenant.id,
        actor=actor,
        action="platform.first-run",
        resource=f"user/{username}",
        data={"tenant": slug},
    )
    return user, tenant, None if password is not None else password_link(user=user, actor=actor)
