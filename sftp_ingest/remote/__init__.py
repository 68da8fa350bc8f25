"""The sources of import files, and the fetching of files from a supplier's registered host."""
