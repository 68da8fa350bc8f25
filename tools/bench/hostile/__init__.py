"""A stranger without a key who keeps many connections busy."""
