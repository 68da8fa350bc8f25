"""The service's own clients, as packages: a thin core of each language, over what its document says."""
