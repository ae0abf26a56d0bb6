"""What every app of the control plane uses: problems, ids, paging, keys, hashing."""
