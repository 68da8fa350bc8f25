"""What `bench.sftp` is made of."""
