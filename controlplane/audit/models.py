from django.db import models

from controlplane.common.ids import new_id


def new_audit_id() -> str:
    return new_id("ae")


class AuditEvent(models.Model):
    """One action, or the refusal of one. The database lets no row be changed (`protection`).

    Attributes:
        touches: pairs [area, name] of what it is about, within `cluster_id` when it has one. With
            `cluster_name` they say who may read it.
        credential: by what the actor came in: `key/<id>` or `session/<digest>`.
        data: before and after where they are known, as `rules.kept` leaves them.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_audit_id)
    tenant_id = models.CharField(max_length=40, db_index=True)
    actor = models.CharField(max_length=200)
    action = models.CharField(max_length=100)
    resource = models.CharField(max_length=400)
    outcome = models.CharField(max_length=40)
    reason = models.TextField(blank=True)
    remote_address = models.CharField(max_length=64, blank=True)
    user_agent = models.CharField(max_length=300, blank=True)
    cluster_id = models.CharField(max_length=40, null=True)  # noqa: DJ001 - absent, not empty
    cluster_name = models.CharField(max_length=100, blank=True)
    touches = models.JSONField(default=list)
    request_id = models.CharField(max_length=64, blank=True)
    credential = models.CharField(max_length=60, blank=True)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant_id", "-id"], name="audit_tenant_newest"),
            models.Index(fields=["tenant_id", "actor", "-id"], name="audit_by_actor"),
            models.Index(fields=["tenant_id", "action", "-id"], name="audit_by_action"),
            models.Index(fields=["tenant_id", "outcome", "-id"], name="audit_by_outcome"),
            models.Index(fields=["tenant_id", "-created_at"], name="audit_by_time"),
            models.Index(
                fields=["tenant_id", "resource"],
                opclasses=["", "varchar_pattern_ops"],
                name="audit_by_resource",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.resource}: {self.outcome}"


class AuditRetention(models.Model):
    """Up to when rows may be deleted, while the operator's command deletes them."""

    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"until {self.until}"
