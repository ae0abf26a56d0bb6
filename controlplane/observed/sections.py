"""The sections in which a cluster is read, and what its health may be."""

BROKERS, TOPICS, GROUPS, USERS, ACLS = "brokers", "topics", "groups", "users", "acls"
QUOTAS, REASSIGNMENTS = "quotas", "reassignments"
SECTIONS = (BROKERS, TOPICS, GROUPS, USERS, ACLS, QUOTAS, REASSIGNMENTS)
"""Of the last two the brokers are asked each time; what is kept answers while they do not."""
HEALTHY, DEGRADED, UNREACHABLE, UNKNOWN = "healthy", "degraded", "unreachable", "unknown"
HEALTHS = (HEALTHY, DEGRADED, UNREACHABLE, UNKNOWN)

KEY_MAX = 500
"""Characters of a name: four bytes each stay below what PostgreSQL takes into an index."""
NOT_ASKED = "groups whose coordinator could not be asked may be missing"
