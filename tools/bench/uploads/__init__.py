"""The modules of `tools.bench.sftp`: the compared servers, and the idle logins."""
