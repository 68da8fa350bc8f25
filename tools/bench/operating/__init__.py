"""The admin under measure: a market of any size with waiting work, and the pages that show it."""
