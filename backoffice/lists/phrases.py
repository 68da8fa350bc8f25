"""The phrases beside the headings of the admin's lists, and the texts of empty lists."""

from __future__ import annotations

ABOUT = {
    "accesstoken": "Tokens of partners' systems that sign in with OAuth",
    "apikey": "Keys with which partners' systems sign in",
    "autoimport": "Uploaded files that are imported at once",
    "contact": "People whom operators write to",
    "contactmessage": "Messages to partners, and their answers",
    "delivery": "Events on their way to partners' webhooks",
    "digest": "Daily mails about open work",
    "event": "All recorded changes, newest first",
    "fulfillment": "The parts of orders, each with its supplier",
    "idempotencykey": "Keys that make a repeated request safe",
    "importjob": "Suppliers' product and stock files",
    "importpolicy": "Approval rules: which imports wait for an operator",
    "invitation": "Links that let new members into the portal",
    "member": "People who use the portal for a partner",
    "messagetemplate": "Texts of messages to partners",
    "orderline": "Ordered products and the units that wait for stock",
    "partnership": "Which retailer sells the products of which supplier",
    "performancetarget": "Goals for shipping on time and for few refusals",
    "remotehost": "Suppliers' own hosts from which the service fetches files",
    "routingsimulation": "Trials of a routing rule on past orders",
    "savedmapping": "How the columns of suppliers' files are read",
    "servicepart": "Processes of the service that ended without a shutdown",
    "sftplogin": "Logins for suppliers' upload areas",
    "stocklevel": "Units of each variant in each warehouse",
    "stockmovement": "All changes of stock, newest first",
    "upload": "Files that suppliers uploaded by SFTP",
    "variant": "The products that suppliers sell",
    "warehouse": "Buildings from which suppliers ship",
    "webhook": "Addresses that receive events",
}
"""A phrase beside the heading of a list, by the name of its model."""
EMPTY = {
    "accesstoken": "Partners that sign in with OAuth get access tokens. Each new token appears here.",
    "autoimport": "No supplier has an automatic import yet. Set one up with a sample file.",
    "contact": "Contacts are the people whom operators write to. Add at least one for each partner.",
    "delivery": "Each event that is sent to a webhook appears here.",
    "digest": "A digest is a daily mail about open work. Add one for an operator or a supplier.",
    "idempotencykey": "Requests with an Idempotency-Key appear here until the key expires.",
    "importpolicy": "Without a rule of its own, a supplier has the default rule.",
    "invitation": "Invite members on the page of a supplier or a retailer. Open invitations appear here.",
    "performancetarget": "Without a target, 95 % on time within three days and at most 5 % refused apply.",
    "remotehost": "The service fetches files from suppliers' own SFTP hosts. Add a host to begin.",
    "routingsimulation": "A simulation shows how a routing rule would change past orders. No order changes.",
    "savedmapping": "When you import a file, you can save the mapping of its columns. It appears here.",
    "servicepart": "Parts that ended without a shutdown appear here. Nothing to do.",
    "webhook": "Partners create webhooks in the portal or by the API. They appear here.",
}
"""A text below the heading of an empty list, by the name of its model. Other lists have a general text."""
