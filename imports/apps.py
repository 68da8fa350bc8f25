from django.apps import AppConfig


class ImportsConfig(AppConfig):
    name = "imports"

    def ready(self) -> None:
        # Import here: models are not loaded before ready().
        from api import facts
        from imports.facts import imports
        from imports.job_files import bytes_outside_area
        from imports.templates import TemplatesFolder
        from sftp_ingest.area import made_files, quota

        made_files.register(TemplatesFolder())
        quota.count_also(bytes_outside_area)
        facts.register(imports)
