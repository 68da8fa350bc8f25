"""The SSH and SFTP server: listener, sessions, logins, and the commands of a client in its area."""
