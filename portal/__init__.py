"""The pages of members: partners with a browser (contract 20)."""
