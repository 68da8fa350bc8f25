"""The web process below Django: who is read, who waits, and who gets a thread (docs/adr/0061)."""
