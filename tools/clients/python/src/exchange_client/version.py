"""The version of this client, which follows the service's interface."""

__version__ = "1.0.0"
