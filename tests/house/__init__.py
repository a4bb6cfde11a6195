"""The watch over size, names and imports of the house; ``python -m house`` is part of make lint."""
