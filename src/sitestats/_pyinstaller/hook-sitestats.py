"""PyInstaller runs this for a program that imports the package."""

from __future__ import annotations

from PyInstaller.utils.hooks import collect_data_files

datas = collect_data_files("sitestats")
