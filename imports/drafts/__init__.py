"""Files that operators upload in the browser, before they are imported.

`sample`      the first rows of a file
`preview`     what they become as the mapping stands
`columns`     a mapping as people change it: column by column
`pieces`      large files arrive piece by piece
`services`    drafts are made, tried, imported, forgotten
"""
