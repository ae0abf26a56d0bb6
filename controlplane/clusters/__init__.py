"""Clusters: provisioned on hosts through their agents, or registered as they are."""
