"""The only place that knows every component: builds a broker and runs it."""
