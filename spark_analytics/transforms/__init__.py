"""Bronze → silver → gold as DataFrame → DataFrame; no files, no brokers, no clock.

Everything runs inside the JVM (no Python UDFs): a run needs one modest driver and nothing else.
"""
