from django.db import models


class ThrottleLease(models.Model):
    """A replication throttle that we set: it ends when nobody renews it.

    The operation renews it while it moves data and releases it on every way out; beat releases
    what an operation could not.
    """

    operation_id = models.CharField(max_length=40, unique=True)
    cluster_id = models.CharField(max_length=40)
    broker_ids = models.JSONField()
    topics = models.JSONField()
    expires_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"throttle of {self.operation_id}"
