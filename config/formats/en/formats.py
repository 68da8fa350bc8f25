"""The same for everybody, and never two months for one number: 21 Nov 2026, 14:08."""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i:s"
DATETIME_FORMAT = "j M Y, H:i"
