"""What has been learnt, as plain state: rows, sequences; must not know scikit-learn."""
