"""A party's team: members, invitations, and the log of their work."""
