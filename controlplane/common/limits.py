"""Bounds that settings and code share."""

BODY_MAX_BYTES = 4 * 1024 * 1024
"""A body of the REST API."""
SMALL_BODY_MAX_BYTES = 16 * 1024
"""Where nobody has to be signed in: little is read and hashed for whoever asks."""
