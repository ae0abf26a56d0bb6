from django.db import models


class ThrottleLease(models.Model):
    """The limit on replication of one operation: it ends when nobody renews it.

    The operation renews it while it moves data and releases it on every way out; beat releases
    what an operation could not. Brokers and topics are those that may have something of it.

    Attributes:
        bytes_per_s: per broker and direction, as asked for now; null for no limit.
        released_at: null while brokers may have it.
    """

    operation_id = models.CharField(max_length=40, unique=True)
    cluster_id = models.CharField(max_length=40)
    bytes_per_s = models.BigIntegerField(null=True)
    broker_ids = models.JSONField()
    topics = models.JSONField()
    expires_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"throttle of {self.operation_id}"
