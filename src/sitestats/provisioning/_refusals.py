"""What a failed add says about this website, and about all the others.

The service's document gives neither statuses nor texts for a missing role or a
reached website limit (section 7), and every refusal may be a 400. So the
message is read as well.
"""

from __future__ import annotations

import re
from typing import Final

from sitestats._errors import (
    ServiceError,
    SiteStatsError,
    TransportError,
    WebsiteLockedError,
)

# No credentials, no payment, no permission.
_OF_THE_ACCOUNT: Final = frozenset((401, 402, 403))
_REQUEST_TIMEOUT: Final = 408
_SERVER_FAILED: Final = 500

# Words that are about the account. A word that a message about one website may
# have as well ("not allowed", "limit") stands with its neighbours.
_ABOUT_THE_ACCOUNT: Final = re.compile(
    r"""
    \b(?:
        # credentials
        api[\s_-]?keys? | user[\s_-]?ids? | credentials?
      | un?auth(?:ori[sz]ed|enticated) | authenticat\w* | authori[sz]\w*
      | log(?:ged)?[ ]in | sign(?:ed)?[ ]in
        # role
      | roles? | permissions? | forbidden | not[ ]allowed[ ]to
      | access[ ]denied | no[ ]access | admins? | developers?
        # plan
      | plans? | subscriptions? | upgrad\w+ | quotas? | billing | payments?
      | (?:web)?sites?[ ]limits? | limits?[ ](?:of|on|for|to)[ ][\w ]*(?:web)?sites?
      | (?:maximum|max|number|amount|many|more)[ ](?:\w+[ ]){0,2}(?:web)?sites
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def will_repeat(error: SiteStatsError, hostname: str) -> bool:
    """Whether the next website would be refused for the same reason.

    *hostname* is left out of the message first: ``plan.example`` and
    ``admin.example`` are good names.
    """
    # The class of an error may come from the words of its message, which have
    # the host name in them: so the status is what counts, and then the words.
    if not isinstance(error, ServiceError) or isinstance(error, WebsiteLockedError):
        return False
    if error.status in _OF_THE_ACCOUNT:
        return True
    message = re.sub(re.escape(hostname), "", error.message, flags=re.IGNORECASE)
    return _ABOUT_THE_ACCOUNT.search(message) is not None


def message_of(error: SiteStatsError) -> str:
    """What went wrong, as one line: the service's own words where it spoke."""
    text = error.message if isinstance(error, ServiceError) else str(error)
    return " ".join(text.split())


def is_refusal(error: SiteStatsError) -> bool:
    """Whether the service certainly did not add the website.

    A 5xx is none: the service may have failed after it had added it. Neither
    is 408, which a gateway says when it gave up on the service.
    """
    return (
        isinstance(error, ServiceError)
        and error.status < _SERVER_FAILED
        and error.status != _REQUEST_TIMEOUT
    )


def never_left(error: SiteStatsError) -> bool:
    """Whether the service certainly never saw the request."""
    return isinstance(error, TransportError) and not error.maybe_sent
