"""What every room of the control plane uses: problems, ids, paging, keys, hashing."""
