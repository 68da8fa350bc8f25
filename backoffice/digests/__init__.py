"""A daily mail with open work, for operators and suppliers that subscribed.

`texts`   subject and text of a digest
`sending` sends each digest once a day
`admin`   the page of subscriptions
"""
