"""The only place that knows every room: builds a broker and runs it."""
