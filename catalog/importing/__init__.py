"""Products from files (contract 6). `importer` declares the kind; a row passes these modules in order.

`columns`   lists the columns of a product file and the field of each
`matching`  finds the row's variant
`rules`     refuses rows that are wrong beyond their values
`forecast`  predicts the effect of the file, for dry runs and the approval rule
`landing`   writes the valid rows as variants
"""
