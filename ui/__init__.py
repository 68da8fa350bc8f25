"""The design system of all pages: tags, icons, the style sheet, and the page that shows each component."""
