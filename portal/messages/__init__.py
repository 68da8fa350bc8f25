"""Messages of operators to the people of a party, and the answers of members.

`about`    the portal's page of the record that a message is about
`actions`  the actions that answer a message or mark it as done
`views`    the list, one thread, and the pages of the actions
"""
