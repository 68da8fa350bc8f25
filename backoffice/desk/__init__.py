"""One table of everything that waits for a person.

`items`     what a row says
`kinds`     what kinds there are, and which records are of each
`feeds`     suppliers whose stock has not been heard of for long
`gathering` the rows of all kinds: the same order once, by deadline and money
`pages`     the page, and what is kept of a row
"""
