"""Pages of suppliers and retailers.

`onboarding`, `forms`, `pages` creation of a partner
`handover`   the secrets of a new partner
`lists`, `trouble`  the lists of partners, most trouble first
`tabs`, `panels`    the page of a partner
`readiness`  the needs of a partner
`currency`   the action that changes a currency
`packing_slips`     the slip templates
`scorecards`, `performance`  scorecards and rankings
"""
