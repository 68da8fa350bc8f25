"""Any list of the admin as a file, as it is filtered: `rows`, `workbook` (XLSX as a stream), `views`."""
