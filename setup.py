"""What pyproject.toml cannot say: the wheel has the tables of book/results, as mhabook/results."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

TABLES = sorted(map(str, Path("book", "results").glob("*.npz")))


class WithTables(build_py):
    def run(self):
        super().run()
        folder = Path(self.build_lib, "mhabook", "results")
        if not self.editable_mode:  # there mhabook finds them where they are
            self.mkpath(str(folder))
            for table in TABLES:
                self.copy_file(table, str(folder / Path(table).name))

    def get_source_files(self):  # what a source distribution has
        return [*super().get_source_files(), *TABLES]


setup(cmdclass={"build_py": WithTables})
