"""A supplier's work in the portal: its orders, their moves, and the open work of today."""
