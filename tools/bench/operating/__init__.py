"""What operators look at, of any size: the market with what waits, and the admin's pages over it."""
