"""The client packages of the Exchange: a small core per language, and code made from the OpenAPI document."""
