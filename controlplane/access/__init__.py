"""SCRAM users and ACLs of a cluster."""
