"""`make soak`: mixed traffic and faults on two hosts behind haproxy. At the end, nothing may be lost.

`commands` reads the commands in deploy/, `servers` and `hosts` run them, `traffic` sends requests and
remembers the acknowledged requests, `faults` breaks parts, `verdict` compares the stored records with these
requests, and `report` writes the report.
"""
