"""Packing slips and carton labels as PDF files, made on demand and never stored (contract 22, ADR 111)."""
