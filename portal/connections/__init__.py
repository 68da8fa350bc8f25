"""A party's technical access: API keys, webhooks, SFTP logins and automatic imports.

`key_actions`, `webhook_actions`, `login_actions`, `import_actions`  the changes
`forms`       the forms of these changes
`shown_once`  secrets that a page shows once
`selectors`   the queries of the pages
`views`       the pages
"""
