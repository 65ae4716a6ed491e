"""A plugin of pytest that puts httpx2 in the place of httpx: ``-p alias_httpx``."""

import httpx2

httpx2.alias_httpx()
