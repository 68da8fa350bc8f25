"""Our parts of the second factor at sign-in; allauth does apps, passkeys and recovery codes."""
