"""What those want to know who are woken at night: how the service stands, for Prometheus."""
