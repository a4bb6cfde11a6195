"""What models of each kind of input and output know, and how they learn; no scikit-learn."""
