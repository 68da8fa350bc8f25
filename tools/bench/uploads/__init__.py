"""The parts of `tools.bench.sftp`."""
