"""Suppliers' scorecards.

`measures`   names the measures: counts and durations
`sums`       sums the events of each day
`selectors`  reads a scorecard from the daily sums
"""
