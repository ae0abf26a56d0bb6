"""Who may do what, decided from rules and settings that were read. Pure."""
