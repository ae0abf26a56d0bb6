"""Who changed what, when, from where; appended, never edited."""
