"""Idempotency keys: one stored answer per (tenant, key) for a day."""

from django.db import models


class IdempotencyKey(models.Model):
    """What a request with this key did. `response` is null while the first one still runs."""

    tenant_id = models.CharField(max_length=40)
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    response = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "key"], name="idempotency_once")
        ]

    def __str__(self) -> str:
        return f"{self.tenant_id}:{self.key}"
