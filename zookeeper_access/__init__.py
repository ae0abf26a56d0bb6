"""How Penstock's processes log in to ZooKeeper, by kazoo. Imports nothing of either plane."""
