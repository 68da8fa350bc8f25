"""The source of an import's file, and fetching from a supplier's own registered host."""
