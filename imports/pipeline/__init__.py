"""The way of a file's line. The steps, in the order in which a line meets them:

`job_runner`         a worker takes the job under a `lease`, and walks it through all of this
`preparation`        steps 1 to 8, before anything lands:
1 `containers`       what the file is packed in; a `workbook` gives its rows, with `cells_as_shown`
  `encodings`        what the file is written in; its bytes go on as UTF-8
2 `csv_reader`       its `header`, and blocks of whole records;
                     a `rewritten_sheet` makes others of them
3 `clean_blocks`     those may go into the table as they are; all others pass `tolerant_reader`,
                     which refuses a record that is no CSV
4 `mapping`          the entries that a request gives; `header_binding`, which column fills which field;
                     `row_shape`, what the mapping says of rows
5 `staging`          the records go into the job's own table, each with its line; `record_checks`
                     refuses those with odd characters, or another number of cells than the header;
                     `row_shaping` fills in what rows leave to others, and leaves out what is no record
6 `template_lines`   the template's own lines go out again, and `duplicates`: of one key the last counts
7 `mapping_sql`      cells as typed values in SQL: by `cell_texts`, `columns` (`number_columns`,
                     `barcode_columns`), `number_styles`, and `expressions`, which `expression_parser` reads
8 `changed_rows`     which rows differ from what is stored
9 `approval_rule`    whether the job waits for a person before anything lands
10 `batches`         a range of the rows that differ, typed and checked
11 `rejects`         a row that breaks a rule is refused, and why is written down
12 `importer`        what each kind declares: its columns, its rules, and how the good rows land
                     (those of a `row_importer` are carried out one by one, instead of 8 to 11)

Beside them: `context`, what the steps share; `errors`, what ends a job early; `statistics`, what the planner
must know; `job_report`, the ranges' reports as one.
"""
