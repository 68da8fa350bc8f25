"""Files that operators upload in the browser, before they are imported.

`sample`        the first rows of a file
`preview`       the values that these rows have under the current mapping
`columns`       a mapping as people edit it, column by column
`chunks`        large files that arrive in several requests
`services`      create, try, import and discard drafts
"""
