"""The desk: one table of all work that waits for an operator.

`items`     a row of the table, and the class of a kind
`kinds`     the list of all kinds, which the menu, the home page and the digests read, too
`feeds`     suppliers whose stock feed is silent
`parts`     parts of the service that are silent
`receivers` webhooks that fail
`entries`   ranks and cursors of rows
`gathering` one page of rows: each order once, by deadline and money
`notes`     assignees, comments and snoozes of rows
`groups`    the rows by party and kind, with their counts and amounts
`pages`, `group_pages`, `filter_form`  the page, its groups and its filters
`live`      the changes since the page was shown
"""
