"""A party's team: members, invitations, and the log of the team's changes."""
