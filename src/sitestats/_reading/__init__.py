"""Read responses: an ``HttpResponse`` becomes a model, or an error.

A response goes one way down, and each step is a module::

    decoding     bytes -> JSON, or an error that ``errors`` makes
    structuring  JSON -> an attrs model by cattrs, and the problems in it
    checking     the model against the query: what differs
    completing   what is worked out: hours, what is cut, what is not over
    statistics   all of these in turn -> ``Stats``
    websites     the same for the Admin API -> ``WebsiteList``, ``AddedWebsite``

What the document does not show is treated by one policy, which is a table in
``docs/errors.md``: a requested value that is null, absent or unreadable is unknown, and
the rest is there, with a problem and a warning. What nobody requested and the document
does not name has no say.
"""
