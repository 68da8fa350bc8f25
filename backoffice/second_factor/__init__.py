"""A second factor at sign-in: apps, passkeys, recovery codes. allauth does it; this is what is ours."""
