"""Tenant ◄ Membership ► user; Tenant ◄ ServiceAccount ◄ ApiKey; Invitation leads into both."""

from django.conf import settings
from django.db import models

from controlplane.common.grants import LIMITED, OPERATOR, OWNER, VIEWER
from controlplane.common.ids import new_id
from controlplane.common.models import Stateful
from controlplane.common.transitions import Transitions

ROLE_CHOICES = [
    (OWNER, "Owner"),
    (OPERATOR, "Operator"),
    (VIEWER, "Viewer"),
    (LIMITED, "By grants only"),
]
READ, WRITE = "read", "write"
SCOPE_CHOICES = [(READ, "Read"), (WRITE, "Read and write"), (LIMITED, "By grants only")]
KEY_ROLES = {READ: VIEWER, WRITE: OPERATOR, LIMITED: LIMITED}


ACTIVE, SUSPENDED, CLOSED = "active", "suspended", "closed"
TENANT_STATE_CHOICES = [(ACTIVE, "Active"), (SUSPENDED, "Suspended"), (CLOSED, "Closed")]
TENANT_MOVES = Transitions(
    "tenant",
    {
        ACTIVE: frozenset({SUSPENDED}),
        SUSPENDED: frozenset({ACTIVE, CLOSED}),
        CLOSED: frozenset({SUSPENDED}),
    },
)
"""Nothing is closed that could still be at work: first it is suspended."""


def new_tenant_id() -> str:
    return new_id("tn")


def new_api_key_id() -> str:
    return new_id("ak")


def new_service_account_id() -> str:
    return new_id("sa")


def new_invitation_id() -> str:
    return new_id("iv")


class Tenant(Stateful):
    """The isolation owner of clusters and everything on them.

    Suspended: its members and keys read and change nothing. Closed: it is there for operators
    alone, and its keys open nothing.
    """

    moves = TENANT_MOVES
    id = models.CharField(primary_key=True, max_length=40, default=new_tenant_id)
    slug = models.SlugField(unique=True, max_length=60)
    name = models.CharField(max_length=200)
    state = models.CharField(max_length=20, choices=TENANT_STATE_CHOICES, default=ACTIVE)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    """A role on everything of the tenant, or `limited`; `grants` add roles by pattern.

    `common.grants.scope_of` reads both; without either a member may do nothing.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=20, choices=ROLE_CHOICES)
    grants = models.JSONField(default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "user"], name="one_membership")]

    def __str__(self) -> str:
        return f"{self.user_id}@{self.tenant_id}: {self.role}"


class ServiceAccount(models.Model):
    """A machine of a tenant: what owns keys, whoever made them. Disabled, its keys open nothing."""

    id = models.CharField(primary_key=True, max_length=40, default=new_service_account_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="service_accounts")
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=300, blank=True)
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    disabled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="service_account_name_once")
        ]

    def __str__(self) -> str:
        return self.name


class ApiKey(models.Model):
    """A machine's credential `psk_<lookup>_<secret>`; only the secret's SHA-256 is kept.

    The secret has 256 random bits, so a plain hash is as strong as a slow one and costs nothing.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_api_key_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="api_keys")
    service_account = models.ForeignKey(
        ServiceAccount, on_delete=models.CASCADE, related_name="keys"
    )
    name = models.CharField(max_length=100)
    scope = models.CharField(max_length=10, choices=SCOPE_CHOICES, default=READ)
    lookup = models.CharField(max_length=16, unique=True)
    secret_hash = models.CharField(max_length=64)
    grants = models.JSONField(default=list)
    created_by = models.CharField(max_length=200, blank=True)
    # Not a reference: the row outlives the user, and opens nothing until another one rotates it.
    maker_id = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    replaces = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, related_name="successors"
    )

    def __str__(self) -> str:
        return f"{self.name} ({self.scope})"


class OidcIdentity(models.Model):
    """Whom an OpenID provider means by a subject. No mail address links one: it proves nothing."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="oidc_identities"
    )
    issuer = models.CharField(max_length=300)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="oidc_subject_once")
        ]

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"


class Invitation(models.Model):
    """A one-time link `psi_<lookup>_<secret>`; only the secret's SHA-256 is kept.

    With a tenant it makes whoever opens it a member with `role`; with a user it lets that user
    choose a password; one of the two is set.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_invitation_id)
    tenant = models.ForeignKey(
        Tenant, on_delete=models.CASCADE, null=True, related_name="invitations"
    )
    role = models.CharField(max_length=20, blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="links"
    )
    note = models.CharField(max_length=200, blank=True)
    lookup = models.CharField(max_length=16, unique=True)
    secret_hash = models.CharField(max_length=64)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.CharField(max_length=200, blank=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(tenant=None, user__isnull=False)
                | models.Q(tenant__isnull=False, user=None),
                name="invitation_to_tenant_or_user",
            )
        ]

    def __str__(self) -> str:
        return self.id


FAVOURITE_KINDS = ("topic", "group")
FAVOURITE_NAME_MAX = 500


class Favourite(models.Model):
    """What a person has marked as theirs in a tenant; `favourites.FAVOURITES_MAX` at most."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=20, choices=[(kind, kind) for kind in FAVOURITE_KINDS])
    cluster_id = models.CharField(max_length=40)
    name = models.CharField(max_length=FAVOURITE_NAME_MAX)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "user", "kind", "cluster_id", "name"], name="favourite_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user_id}@{self.tenant_id}: {self.kind} {self.name}"
