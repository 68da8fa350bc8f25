"""The way into the portal: signing in, accepting an invitation, choosing a party."""
