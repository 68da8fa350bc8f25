"""/healthz and /readyz, and the heartbeat of the workers."""
