"""How a supplier is doing: `measures` (what is counted), `sums` (adding up events by day), `selectors`
(a scorecard from those sums), `serializers`, `views`.
"""
