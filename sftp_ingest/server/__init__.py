"""SSH and SFTP: the listener, sessions and their logins, and what a client may do with its area."""
