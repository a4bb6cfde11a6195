"""Room 1, files: from bytes to rows with labels; must not know weights or rules."""
