"""`make bench-console`: how light and how quick the console is in a real browser."""
