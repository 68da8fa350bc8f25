"""Exports of lists as CSV and XLSX, streamed: `keyset`, `cells`, `workbook`, `files`."""
