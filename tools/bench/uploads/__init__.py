"""What `tools.bench.sftp` is made of."""
