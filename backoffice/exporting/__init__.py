"""Exports of admin lists as CSV and XLSX: `rows`, `views`."""
