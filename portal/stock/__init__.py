"""A supplier's pages of stock: the grid of one warehouse, and counts pasted from a spreadsheet."""
