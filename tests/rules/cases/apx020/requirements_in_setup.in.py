from setuptools import setup

setup(name="thing", extras_require={"apex": ["apex @ git+https://github.com/NVIDIA/apex"]})
