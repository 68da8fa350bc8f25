"""Makes the types and methods of a client package from the OpenAPI document."""
