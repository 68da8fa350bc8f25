"""Orders by file, for suppliers who do not use the API (contract 13).

`asking`         dates the open request of a fulfillment, and refuses rows for an older request
`carried_out`    recognizes rows that were carried out before
`changed`        writes the changes of captured fulfillments as a CSV
`misnamed`       refuses files whose columns for lines or quantities have other names
`order_lines`    writes fulfillments as a CSV
`orders_folder`  `orders/` of the upload area: files that are created when they are read
`kind`           describes the files in `tracking/` for the registry of import kinds
`tracking`       `tracking/` of the upload area: imports the supplier's moves from a CSV
`units`          finds the units that a CSV row means
"""
