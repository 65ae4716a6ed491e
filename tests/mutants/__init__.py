"""Mutants: small breaks of the package that the tests must notice.

``machine`` runs tests against a mutated copy of ``src``. ``python -m mutants``, in the
folder of the tests, runs those of docs/coverage.md.
"""
