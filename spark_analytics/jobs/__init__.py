"""The steps of a run, in order: ingest, silver, gold, tidy."""
