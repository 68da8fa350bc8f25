"""The design system of all pages: template tags, badges, charts, icons, scripts and the style sheet."""
