"""A client without a key that keeps many connections busy."""
