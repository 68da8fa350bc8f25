"""Streamed exports of lists as CSV and XLSX."""
