"""The measurement of the admin's and the portal's pages, in markets of any size with waiting work."""
