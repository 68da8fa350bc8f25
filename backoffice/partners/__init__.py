"""Pages of partners: `pages` (overview), `onboarding` and `forms` (the wizard), `scorecards`."""
