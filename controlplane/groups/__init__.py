"""Consumer groups of a cluster and the moving of their committed offsets."""
