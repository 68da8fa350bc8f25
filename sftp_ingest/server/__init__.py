"""The SFTP server: listener, sessions, logins, and the commands of a client in its upload area."""
