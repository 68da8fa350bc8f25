"""Mixins of all admin lists and forms.

`columns`       columns of a list that the operator chooses
`views`         saved views of a list
`plain_choices` plain fields for related records and moments
`stale_forms`   forms that keep the changes of other operators
`unchanged`     a message for forms without changes
"""
