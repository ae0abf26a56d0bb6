"""What touches the outside: jars, the lake's files, the brokers, the run's own files."""
