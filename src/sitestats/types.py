"""The types of what the package takes and returns, to annotate your own code with.

You make none of these yourself: ``client.stats`` is a ``StatsAPI``, ``compare`` returns
a ``Comparison``, and ``error.request`` is an ``HttpRequest``.
"""

from ._client.async_client import (
    AsyncStatsAPI as AsyncStatsAPI,
    AsyncWebsitesAPI as AsyncWebsitesAPI,
)
from ._client.base import Options as Options
from ._client.client import (
    StatsAPI as StatsAPI,
    WebsitesAPI as WebsitesAPI,
)
from ._client.get_many import (
    AsyncOutcomeStream as AsyncOutcomeStream,
    OutcomeStream as OutcomeStream,
)
from ._base.fields import (
    CountName as CountName,
    ListName as ListName,
    TableName as TableName,
    TotalName as TotalName,
)
from ._base.progress import Progress as Progress
from ._configuration.settings import NotGiven as NotGiven
from ._wire.messages import JsonValue as JsonValue
from ._wire.messages import (
    Credentials as Credentials,
    Headers as Headers,
    HttpRequest as HttpRequest,
)
from ._protocol.check_setup import SetupRow as SetupRow
from ._query.builder import Against as Against
from ._query.crossing import (
    HasValue as HasValue,
    SeveralMetadata as SeveralMetadata,
    SeveralValues as SeveralValues,
)
from ._query.periods import (
    Day as Day,
    NamedPeriod as NamedPeriod,
    NumpyDay as NumpyDay,
    PreviousUnit as PreviousUnit,
    Span as Span,
    Unit as Unit,
)
from ._query.rules import (
    HasHostname as HasHostname,
    MetadataValue as MetadataValue,
)
from ._comparison.changes import (
    Change as Change,
    Changes as Changes,
    Direction as Direction,
    EntryChange as EntryChange,
)
from ._comparison.comparison import Comparison as Comparison
from ._comparison.comparisons import (
    ComparedPair as ComparedPair,
    Comparisons as Comparisons,
)
from ._results.bases import Table as Table
from ._results.entries import (
    HourEntry as HourEntry,
    TimedListEntry as TimedListEntry,
    TimedPageEntry as TimedPageEntry,
    WeekEntry as WeekEntry,
)
from ._results.tables import Column as Column, Kind as Kind
from ._store.sqlite import StoreStats as StoreStats
