"""Orders by file, for suppliers who do not use the API (contract 13).

`asking`         finds the time of a fulfillment's open request, and refuses rows that answer an older request
`carried_out`    recognizes rows that were carried out before
`changed`        writes the changes of captured fulfillments as a CSV
`misnamed`       refuses files whose columns for lines or quantities have other names
`order_lines`    writes fulfillments as a CSV
`orders_folder`  creates the files in `orders/` of the upload area at the moment when a client reads them
`kind`           describes the files in `tracking/` for the registry of import kinds
`tracking`       imports the supplier's moves from a CSV in `tracking/` of the upload area
`units`          finds the units that a CSV row names
"""
