"""Soak test: many calls of both clients to a server with one fault in ten.

Resident memory, open files, threads and tasks must be the same at the end as after
the first calls. Once the client is closed, they must be what they were before it was
made. Run it with::

    python -m soak --calls 100000
"""
