"""Webhooks, which send events to URLs of the parties (contract 9 and 13, Webhooks; ADR 46)."""
