"""Measures the admin's pages, with a market of any size that has waiting work."""
