"""The layer of the web process below Django: it reads requests, queues them, and gives them threads.

docs/adr/0061 has the reasons.
"""
