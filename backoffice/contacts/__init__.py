"""Contacts of parties, and the messages that operators write to them.

`concerned` the parties of a record, and the name of the record in messages to these parties
`forms`    the forms of a message and of an answer
`pages`    the page of a record's messages
`sending`  the mailing of messages in a worker
`admin`    the pages of contacts and templates
`messages_admin` the page of a message, on which an operator marks an answer as read
"""
