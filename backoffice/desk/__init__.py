"""The desk: one table of all work that waits for an operator.

`items`     the classes of rows, of their actions, and of desk kinds
`kinds`     the list of all kinds, for the desk, the menu, the home page and the digests
`texts`     the texts of rows: title, parties and problem
`feeds`     suppliers whose stock feed is silent
`parts`     parts of the service that are silent
`receivers` webhooks that fail
`entries`   the sort keys of rows, and the cursors of pages
`gathering` one page of rows: each order once, by deadline and amount
`notes`     assignees, comments and snoozes of rows
`groups`    the rows by party and kind, with their counts and amounts
`pages`, `group_pages`, `filter_form`  the page, its groups and its filters
`live`      the changes of the table since the browser loaded the page
"""
