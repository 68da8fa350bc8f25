"""A supplier's upload area: paths, files, the quota, and uploads until they have their name."""
