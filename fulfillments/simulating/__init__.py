"""Simulations of routing rules on past orders (ADR 11).

`replaying` plans one order's decision again, with and without the rule
`summing`   adds the results up
`running`   runs over many orders, in slices, in the background
"""
