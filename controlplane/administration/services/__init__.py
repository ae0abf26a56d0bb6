"""Writes: each rule of administration in one place, for REST, console and `manage.py`."""
