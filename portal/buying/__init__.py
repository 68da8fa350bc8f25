"""A retailer's pages in the portal: its orders, and the open work of today."""
