"""Orders by file, for suppliers who only speak files (contract 13).

`order_lines`    fulfillments as the lines of a CSV
`orders_folder`  `orders/` of the upload area, made as it is read
`tracking`       `tracking/`: what each line of a CSV put there means
`pieces`         which pieces of a fulfillment it names
"""
