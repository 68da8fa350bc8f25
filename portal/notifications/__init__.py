"""Mails to members about the work of their party.

`topics`   the subjects of mails, and their lines
`sending`  sends the due mails, each once
`actions`  the choice of a member
`views`    its page, and the link that ends all mails
"""
