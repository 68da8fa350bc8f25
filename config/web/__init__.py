"""The web process below Django: reads requests, lets them wait, and gives them threads (docs/adr/0061)."""
