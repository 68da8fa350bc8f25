"""Admin lists with chosen `columns` and saved `views`."""
