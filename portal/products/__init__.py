"""A supplier's pages of products: the list with prices to edit, the page of a product, and its actions."""
