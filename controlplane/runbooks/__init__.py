"""Runbooks that run: documents with checks, decisions and plans. See README.md."""
