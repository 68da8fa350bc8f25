"""Where an import's file is, and how one on a supplier's own registered host is fetched."""
