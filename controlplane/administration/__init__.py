"""Administration: tenants, members, users, service accounts, keys and hosts, by three doors."""
