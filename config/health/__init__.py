"""The pages /healthz, /readyz and /statusz, and their checks."""
