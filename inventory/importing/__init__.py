"""Stock from files (contract 6 and 7).

`kind`        describes stock files for the registry of kinds: scopes, paths and bodies
`bodies`      reads the bodies of requests
`form`        the operators' form for an uploaded file
`importer`    declares the steps of a row; each module below is one step

`restock_column`  reads the row's restock date
`locations`   rewrites a shop's export of several locations: one row per location
`matching`    finds the row's variant, warehouse and stock level
`since`       corrects the row's count by the units that moved after the count
`rules`       checks each row as a whole, beyond its single values
`forecast`    predicts the effect of the file, for dry runs and the approval rule
`landing`     stores the counts
`full_files`  sets the stock that a full file leaves out to 0
"""
