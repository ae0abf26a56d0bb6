from django.db import models

from controlplane.common.ids import new_id


def new_audit_id() -> str:
    return new_id("ae")


class AuditEvent(models.Model):
    """One action. `data` holds before and after where they are known, never a secret."""

    id = models.CharField(primary_key=True, max_length=40, default=new_audit_id)
    tenant_id = models.CharField(max_length=40, db_index=True)
    actor = models.CharField(max_length=200)
    action = models.CharField(max_length=100)
    resource = models.CharField(max_length=400)
    outcome = models.CharField(max_length=40)
    reason = models.TextField(blank=True)
    remote_address = models.CharField(max_length=64, blank=True)
    user_agent = models.CharField(max_length=300, blank=True)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["tenant_id", "-id"], name="audit_tenant_newest")]

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.resource}: {self.outcome}"
