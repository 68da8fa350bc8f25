"""Files that operators upload in the browser, before they are imported.

`sample`        the first rows of a file
`preview`       the values that these rows have under the current mapping
`first_rows`    reads the first rows of packed files in a worker
`mappings`      the mappings that fit a file
`mapped`        stores a file with its suggested mapping
`columns`       a mapping in the form that people edit, column by column
`chunks`        large files that arrive in several requests
`services`      creates, tries, imports and discards drafts
"""
