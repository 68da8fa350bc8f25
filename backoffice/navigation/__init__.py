"""The admin's menu: `menu` (entries by task), `counting` (cached counts of open work)."""
