"""Installs launch files, parameter files and the executables that start the nodes."""

from glob import glob

from setuptools import setup

NAME = "ur_admittance_ros"

setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", glob("launch/*.launch.py")),
        (f"share/{NAME}/config", glob("config/*.yaml")),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="The ur-admittance authors",
    maintainer_email="ur-admittance@example.com",
    description="Launch files, parameter files and executables for the nodes of ur-admittance",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            f"{executable} = {NAME}.executables:{executable}"
            for executable in ("admittance_node", "wrench_node", "sim_node")
        ],
    },
)
