"""Simulations of routing rules on past orders (ADR 11).

`replaying` routes one order again, with and without the simulated rule
`summing`   sums the results of all orders
`running`   replays many orders in the background, for a few seconds in each task
"""
