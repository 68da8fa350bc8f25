"""Suspensions of trade: `services` (suspend and resume), `impact` (preview), `pages`."""
