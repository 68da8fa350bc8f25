"""This project's additions to allauth for the second factor at sign-in.

allauth itself handles authenticator apps, passkeys and recovery codes.
"""
