"""PostgreSQL as this service uses it: answers are waited for so long and no longer."""
