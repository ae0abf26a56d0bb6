"""Kinds of destination, each a pure renderer: an event in, an HTTP request or a mail out."""
