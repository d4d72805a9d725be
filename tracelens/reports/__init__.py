"""Reports: one file a format, each from the same result to a string."""
