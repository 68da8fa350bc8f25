"""Mails to members about the work of their party.

`topics`   the topics of mails, and their lines
`sending`  sends each due mail once
`actions`  the action that changes a member's choice of mails
`views`    the page of this action, and the page of the link that ends all mails
"""
