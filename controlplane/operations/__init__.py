"""The engine for everything risky: plan → confirm → execute → verify → undo.

Public: `operations` (what a kind of operation must offer), `services` (start, cancel, undo),
`plans` (make a plan), `selectors` (JSON shapes), `engine.tick` (one durable step).
"""
