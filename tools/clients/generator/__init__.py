"""Writes what a client package has of the service's document: its types, a method for each operation."""
