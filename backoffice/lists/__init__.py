"""Mixins, fields and texts of all admin lists and forms.

`columns`       columns of a list that the operator chooses
`views`         saved views of a list
`phrases`       phrases beside headings, and texts of empty lists
`plain_choices` plain fields for related records and moments
`record_choice` a field that chooses a record by its name
`stale_forms`   forms that keep the changes of other operators
`unchanged`     a message for forms without changes
"""
