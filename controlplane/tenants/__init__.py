"""Tenants, their members and API keys; who may do what."""
