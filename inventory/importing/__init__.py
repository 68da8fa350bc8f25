"""Stock from files (contract 6 and 7): what the `importer` declares, by what a row meets.

`locations` a shop's export of several places, written anew with a row for each
`matching`    how a row finds its variant, its warehouse and its level
`since`       what happened after the moment of its count
`rules`       what can be wrong with it, beside its values
`forecast`    what the file would do: for dry runs, and for the approval rule
`landing`     how its count is set
`full_files`  what a full file does not name becomes 0
"""
