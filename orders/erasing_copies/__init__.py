"""The erasure of copies of a consumer's data outside the order: in answers, comments, rejects and files."""
