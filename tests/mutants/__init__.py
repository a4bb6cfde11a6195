"""Small mutations of the package and the core, and whether the tests notice them."""
