"""Events, sent to the parties' own addresses (contract 9 and 13, Webhooks; ADR 46)."""
