"""A daily mail with open work, for operators and suppliers that subscribed.

`texts`   subject and text
`sending` sends each digest once a day
`admin`   subscriptions
"""
