"""Tenant ◄ Membership ► user; ApiKey belongs to one tenant."""

from django.conf import settings
from django.db import models

from controlplane.common.ids import new_id

OWNER, OPERATOR, VIEWER = "owner", "operator", "viewer"
ROLE_CHOICES = [(OWNER, "Owner"), (OPERATOR, "Operator"), (VIEWER, "Viewer")]
READ, WRITE = "read", "write"
SCOPE_CHOICES = [(READ, "Read"), (WRITE, "Read and write")]


def new_tenant_id() -> str:
    return new_id("tn")


def new_api_key_id() -> str:
    return new_id("ak")


class Tenant(models.Model):
    """The isolation owner of clusters and everything on them."""

    id = models.CharField(primary_key=True, max_length=40, default=new_tenant_id)
    slug = models.SlugField(unique=True, max_length=60)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=20, choices=ROLE_CHOICES)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "user"], name="one_membership")]

    def __str__(self) -> str:
        return f"{self.user_id}@{self.tenant_id}: {self.role}"


class ApiKey(models.Model):
    """A machine's credential `psk_<lookup>_<secret>`; only the secret's SHA-256 is kept.

    The secret has 256 random bits, so a plain hash is as strong as a slow one and costs nothing.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_api_key_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100)
    scope = models.CharField(max_length=10, choices=SCOPE_CHOICES, default=READ)
    lookup = models.CharField(max_length=16, unique=True)
    secret_hash = models.CharField(max_length=64)
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.scope})"
