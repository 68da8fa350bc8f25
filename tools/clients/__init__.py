"""The client packages of the Exchange: a small core for each language, and code from the OpenAPI document."""
