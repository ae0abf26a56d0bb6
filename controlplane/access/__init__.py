"""Logins (SCRAM users) and grants (ACLs) of a cluster."""
