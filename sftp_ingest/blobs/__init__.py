"""Content by number, on the local disk or in S3-compatible storage. Rows know what it is called."""
