"""The admin's menu: `menu` (entries by task), `counting` (how much work waits at each)."""
