"""`/members`, `/invitations`, `/service-accounts`, key rotation; `/operator/…` for operators."""
