"""The admin's search: `finders` (one for each kind of record), `hits`, `views` (the pages)."""
