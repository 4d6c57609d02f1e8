"""The package is described in pyproject.toml; here nbdev's index of the notebooks is left out of the wheel."""

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildPy(build_py):
    "All modules but the index."

    def find_package_modules(self, package, package_dir):
        "Tuples of package, module and file."
        return [found for found in super().find_package_modules(package, package_dir) if found[1] != "_modidx"]


setup(cmdclass={"build_py": BuildPy})
