"""Suppliers' scorecards.

`measures`   names the counts and times
`sums`       adds events up by day
`selectors`  reads a scorecard from these sums
"""
