"""The staging table: an unlogged table with a job's file. It has one row per record, with the cells as text.

`line` is the physical line on which the record starts.
"""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Identifier, Literal

from imports.sql import execute, value


class StagingTable:
    """The staging table of one job."""

    def __init__(self, job_id: int, width: int = 0) -> None:
        self.job_id, self.width = job_id, width
        self.name = f"imports_staging_{int(job_id)}"
        self.table: Composable = Identifier(self.name)
        # The values that an importer has looked up for this job.
        self.lookup = Identifier(f"{self.name}_lookup")
        # The lines that differ from the stored rows, with their ctid.
        self.differing = Identifier(f"{self.name}_differing")
        # The last line of each repeated key, with the earlier lines that were skipped.
        self.repeated = Identifier(f"{self.name}_repeated")
        self.columns = [Identifier(f"c{index}") for index in range(width)]

    def create(self) -> None:
        self.drop()
        sequence = SQL("{}").format(Identifier(f"{self.name}_line"))
        cells = SQL(", ").join(SQL("{} text").format(column) for column in self.columns)
        execute(
            SQL(
                # A sequence gives each record its line number, because COPY does not know the number.
                "CREATE SEQUENCE {sequence} CACHE 10000;"
                " CREATE UNLOGGED TABLE {table} (line bigint NOT NULL DEFAULT nextval({name}), {cells})"
                " WITH (autovacuum_enabled = false);"
                " ALTER SEQUENCE {sequence} OWNED BY {table}.line"
            ).format(sequence=sequence, table=self.table, name=Literal(f"{self.name}_line"), cells=cells)
        )

    def drop(self) -> None:
        mine = (self.table, self.lookup, self.differing, self.repeated)
        execute(SQL("DROP TABLE IF EXISTS {}").format(SQL(", ").join(mine)))

    def exists(self) -> bool:
        return bool(value(SQL("SELECT to_regclass({}) IS NOT NULL").format(Literal(self.name))))

    def count(self) -> int:
        """Return the number of rows: 0 after a crash of the database, which empties unlogged tables."""
        return int(value(SQL("SELECT count(*) FROM {}").format(self.table)))

    def index(self) -> None:
        """Index the lines, so that ranges are found quickly."""
        execute(
            SQL(
                "CREATE INDEX ON {table} USING brin (line) WITH (pages_per_range = 16);"
                " SET LOCAL default_statistics_target = 1; ANALYZE {table} (line)"
            ).format(table=self.table)
        )
