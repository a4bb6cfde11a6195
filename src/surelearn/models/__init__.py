"""Trained models as plain state, for rows and for sequences; must not know scikit-learn."""
