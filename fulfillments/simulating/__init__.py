"""What another rule of routing would have done to past orders (ADR 11).

`replaying` one order's decision, planned once more: as it was, and by the rule
`summing`   what that adds up to
`running`   many orders, by slices, in the background
"""
