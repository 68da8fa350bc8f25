"""Contacts of parties, and the messages that operators write to them.

`concerned` the parties of a record, and the values for templates
`forms`    the forms of a message and of an answer
`pages`    the page of a record's messages
`sending`  mails messages in a worker
`admin`    the pages of contacts and templates
"""
