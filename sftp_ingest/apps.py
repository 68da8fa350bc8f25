from django.apps import AppConfig


class SftpIngestConfig(AppConfig):
    name = "sftp_ingest"
