"""Stores of blobs (content by number), on the local disk or in S3-compatible storage. Rows hold the names."""
