"""The steps that import a file. To *land* a row is to write its values to the stored rows of its kind.

`job_runner`         takes the job under a `lease` and runs the steps below in a worker
`preparation`        runs steps 1 to 8, before any row lands:
1 `containers`       unpacks the file; `workbook` reads workbooks, with `workbook_parts`, `workbook_reading`
                     and `cells_as_shown`
  `encodings`        finds the encoding and converts the bytes to UTF-8
2 `csv_reader`       reads the `header`, then blocks of whole records;
                     a `rewritten_sheet` changes the records
3 `clean_blocks`     finds blocks that can be copied unchanged; `tolerant_reader` reads the others
                     and refuses records that are not CSV
4 `mapping`          reads the entries of a request; `header_steps` chooses a mapping, then
                     `header_binding` binds columns to fields, `row_shape` reads the options of rows
5 `staging`          copies the records into the job's own table, each with its line; `record_checks`
                     refuses characters that cannot be stored and wrong numbers of cells;
                     `row_shaping` fills in cells and removes rows that the mapping does not read
6 `template_lines`   removes the template's own lines; `duplicates` keeps the last row of each key
7 `mapping_sql`      turns cells into typed values in SQL, with `cell_texts`, `columns`
                     (`number_columns`, `barcode_columns`), `number_styles`, and `expressions`,
                     which `expression_parser` reads
8 `changed_rows`     finds the rows that differ from the stored rows
9 `approval_rule`    decides whether the job waits for a person
10 `batches`         converts, checks and lands one range of the rows that differ
11 `rejects`         removes rows that break a rule, and stores the reasons
12 `importer`        declares for each kind its columns, its rules, and how its rows land
                     (a `row_importer` carries out its rows one by one, without steps 8 to 11)

Helpers: `context` holds the values that the steps share; `errors` has the exceptions that end a job early;
`statistics` refreshes the statistics of the query planner; `job_report` merges the reports of ranges.
"""
