"""The way through the admin: `places` by task, `counting` what waits at each."""
