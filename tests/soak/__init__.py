"""A long run of both clients against a server with one fault in ten.

What a client holds must not grow: resident memory, open files, threads and
tasks are the same at the end as after the first calls, and once it is closed
they are what they were before it was made. It runs by itself::

    python -m soak --calls 100000
"""
