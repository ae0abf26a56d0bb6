"""Analyses over what runs have left: computed when asked."""
