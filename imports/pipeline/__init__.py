"""The way of a file's line, step by step:

`job_runner`         a worker takes the job under a `lease` and runs the steps below
`preparation`        steps 1 to 8, before any row lands:
1 `containers`       unpacks the file; a `workbook` gives its rows, with `workbook_parts`, `workbook_reading`
                     and `cells_as_shown`
  `encodings`        finds the encoding; the bytes continue as UTF-8
2 `csv_reader`       reads the `header`, then blocks of whole records;
                     a `rewritten_sheet` changes the records
3 `clean_blocks`     finds blocks that can be copied unchanged; `tolerant_reader` reads the others
                     and refuses records that are not CSV
4 `mapping`          reads the entries of a request; `header_steps` chooses a mapping, then
                     `header_binding` binds columns to fields, `row_shape` reads the options of rows
5 `staging`          copies the records into the job's own table, each with its line; `record_checks`
                     refuses odd characters and wrong numbers of cells;
                     `row_shaping` fills in cells and leaves out rows without a record
6 `template_lines`   removes the template's own lines; `duplicates` keeps the last row of each key
7 `mapping_sql`      turns cells into typed values in SQL, with `cell_texts`, `columns`
                     (`number_columns`, `barcode_columns`), `number_styles`, and `expressions`,
                     which `expression_parser` reads
8 `changed_rows`     finds the rows that differ from the stored ones
9 `approval_rule`    decides whether the job waits for a person
10 `batches`         types and checks one range of the rows that differ
11 `rejects`         removes rows that break a rule, and stores the reasons
12 `importer`        declares the columns, rules and landing of each kind
                     (a `row_importer` carries out its rows one by one, without steps 8 to 11)

Helpers: `context` holds the values that the steps share; `errors` end a job early; `statistics` are refreshed
for the planner; `job_report` merges the reports of ranges.
"""
