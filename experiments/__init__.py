"""Our questions and the papers, one folder each; they share `sets` and `tables`."""
