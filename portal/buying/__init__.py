"""A retailer's pages in the portal: orders, catalog, suppliers, returns, and the open work of today."""
