"""Lists as people want them: `columns` that they choose, `views` that they save under a name."""
