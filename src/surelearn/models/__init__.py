"""Trained models of rows, sequences, graphs and groups as plain state; know no scikit-learn."""
