"""The admin's search: `finders` query ranges of indexes, `views` shows the hits."""
