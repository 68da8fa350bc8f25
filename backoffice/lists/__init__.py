"""Admin lists with chosen `columns` and saved `views`, and what all their forms share."""
