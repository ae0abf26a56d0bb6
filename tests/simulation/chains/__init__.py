"""Groups and transactions: what consumes, transforms and produces, and who watches it."""
