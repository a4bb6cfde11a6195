"""Explanations of models and of their answers; must not know how models learn."""
