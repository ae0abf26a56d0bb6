"""What the brokers were last seen to be: tables with their age, which lists and pages read."""
