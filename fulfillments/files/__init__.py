"""Orders by file, for suppliers who do not use the API (contract 13).

`order_lines`    writes fulfillments as a CSV
`orders_folder`  `orders/` of the upload area: files that are created when they are read
`tracking`       `tracking/` of the upload area: imports the supplier's moves from a CSV
`units`          finds the units that a CSV row means
"""
