"""The generator of a client package's types and methods from the OpenAPI document."""
