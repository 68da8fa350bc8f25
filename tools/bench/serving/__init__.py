"""The service under load: markets of any size, the real server, and bare views beside the real views."""
