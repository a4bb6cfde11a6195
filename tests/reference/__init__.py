"""Slow, plain forms of the update rules and the learner, from the papers: the judge of the core."""
