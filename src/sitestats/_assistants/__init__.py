"""Tools for assistants, by the Model Context Protocol: what ``sitestats mcp`` serves.

``tools`` has the tools and needs no package of the protocol. ``server`` serves them
with the package ``mcp``, from the extra of the same name.
"""
