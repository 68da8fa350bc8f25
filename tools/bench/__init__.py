"""What the Exchange does in a second, measured against what the database could do at most.

`python -m bench` runs every part, `python -m bench imports --rows 100000` one of them. A part is a module
in this package with `main(arguments: list[str]) -> None`; what it prints is the result.
"""
