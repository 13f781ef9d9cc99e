"""The two halves of a clone, `migrate` and `compare`, are installed below one name of ours."""

from setuptools import find_packages, setup

HALVES = ("migrate", "compare")

setup(
    packages=[f"apex2native.{name}" for name in find_packages(include=[f"{half}*" for half in HALVES])],
    package_dir={f"apex2native.{half}": half for half in HALVES},
)
