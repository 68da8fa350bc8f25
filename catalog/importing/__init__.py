"""Products from files (contract 6).

`kind`      describes product files for the registry of kinds: scopes, paths and bodies
`bodies`    reads the bodies of requests
`importer`  declares the steps of a row; each module below is one step

`columns`   lists the columns of a product file and the field of each
`matching`  finds the row's variant
`rules`     checks each row as a whole, beyond its single values
`forecast`  predicts the effect of the file, for dry runs and the approval rule
`landing`   writes the valid rows as variants
"""
