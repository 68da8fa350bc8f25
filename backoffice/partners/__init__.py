"""A partner on one page: `pages`, `letting_in` and `forms` (the wizard), `scorecards` (how it is doing)."""
