"""Erases the copies of a consumer's data outside the order: answers, comments, rejects, files."""
