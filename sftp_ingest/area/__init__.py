"""A supplier's upload area: paths, files, the quota, and unfinished uploads."""
