"""What is computed of samples, as NumPy over flat arrays: no Spark, no I/O.

Spark's tasks and the collector compute by these. Executors get the modules by value
(`transforms.judging`).
"""
