"""Which client this is; it follows the service's interface."""

__version__ = "3.0.0"
