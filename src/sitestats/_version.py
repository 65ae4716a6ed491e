"""The version of the package, which stands here alone: the build reads this file.

Reading the installed metadata instead takes as long as importing httpcore.
"""

__version__ = "0.1.0"
