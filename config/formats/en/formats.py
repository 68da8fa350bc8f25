"""Date formats for all users. The month is a word, so that no date is ambiguous: 21 Nov 2026, 14:08."""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i:s"
DATETIME_FORMAT = "j M Y, H:i"
