"""Stock from files (contract 6 and 7). `importer` declares the kind; a row passes these modules in order.

`locations`   rewrites a shop's export of several locations: one row per location
`matching`    finds the row's variant, warehouse and stock level
`since`       corrects its count by the units that moved after the count
`rules`       refuses rows that are wrong beyond their values
`forecast`    predicts the effect of the file, for dry runs and the approval rule
`landing`     sets the counts
`full_files`  sets the stock that a full file leaves out to 0
"""
