"""How the admin's pages write dates."""
