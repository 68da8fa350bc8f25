"""/healthz, /readyz and /statusz, the heartbeat of the workers, and whether machines share their folder."""
