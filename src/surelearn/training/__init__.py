"""Rows into a model: passes, streams, checkpoints; must not know what kind of model it is."""
