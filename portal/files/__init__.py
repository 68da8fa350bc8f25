"""A supplier's pages of files: uploads with their mapping, imports, and rejected rows."""
