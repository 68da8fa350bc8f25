"""A mail a day with what waits, for operators and suppliers that want one.

`texts`   what it says
`sending` when it is sent, once, by whichever worker
`admin`   who has one
"""
