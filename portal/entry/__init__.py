"""The entry pages of the portal: sign-in, acceptance of an invitation, choice of a party."""
