"""Files imported from the browser: `forms` what is asked, `pages` upload and mapping, `mappings` by name."""
