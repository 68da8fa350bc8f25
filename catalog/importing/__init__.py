"""Products from files (contract 6): what the `importer` declares, by what a row meets.

`columns`   what a product file may have, and where each value is stored
`matching`  how a row finds its variant
`rules`     what else can be wrong with it: such a row is refused
`forecast`  what the file would do: for dry runs, and for the approval rule
`landing`   how good rows become variants
"""
