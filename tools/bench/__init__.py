"""Benchmarks: the speed of the Exchange beside the limit that the database sets.

`python -m tools.bench` runs every part, and `python -m tools.bench imports --rows 100000` runs only the part
`imports`. A part is a module in this package with `main(arguments: list[str]) -> None`, which prints the
result. With `--smoke`, each part runs at a tiny scale, and a part that fails makes the exit code 1.
"""
