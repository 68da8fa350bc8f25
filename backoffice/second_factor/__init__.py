"""The second factor at sign-in: the code that this project adds to allauth.

allauth itself handles authenticator apps, passkeys and recovery codes.
"""
