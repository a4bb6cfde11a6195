"""Training loops: passes, streams, shards, checkpoints; must not know the kind of model."""
