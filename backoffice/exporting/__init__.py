"""Exports of admin lists as CSV and XLSX: `rows`, `workbook`, `views`."""
