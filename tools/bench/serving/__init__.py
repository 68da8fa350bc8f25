"""The service under load: a market of any size, the real server on it, bare views beside the real ones."""
