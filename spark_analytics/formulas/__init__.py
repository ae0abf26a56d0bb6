"""What is computed of samples, as NumPy over flat arrays: no Spark, no I/O.

Spark's tasks and the collector compute by these. Executors get them with the session.
"""
