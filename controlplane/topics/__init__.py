"""Topics of a cluster: read through the gateway, changed by operations."""
