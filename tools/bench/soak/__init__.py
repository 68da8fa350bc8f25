"""`make soak`: mixed traffic over two hosts behind haproxy, and faults; in the end nothing is lost.

`commands` reads what deploy/ runs, `servers` and `hosts` start it, `traffic` asks and remembers what was
acknowledged, `faults` breaks things, `verdict` compares, and `report` writes it down.
"""
