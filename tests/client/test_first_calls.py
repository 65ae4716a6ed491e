"""What people type first is right, or the error says what to type."""

from __future__ import annotations

from datetime import datetime

import pytest

import sitestats
from sitestats import StatsQuery
from sitestats.emulator import Emulator

CALLS = """
"Semicomplete.com" in websites                              | True
"a.example" in websites                                     | False
"/" in stats.pages                                          | True
str(stats.first_day) in stats.histogram                     | True
query.last(7) == query.last(days=7)                         | True
query.on(datetime(2026, 3, 1)) == query.on("2026-03-01")    | True
client.stats.compare(query, "previous-year").now == stats   | True
client.websites.ensure(["a.example", WebsiteSpec("b.example")]) | 2 added
query.each(websites)                                        | .each(websites=…)
query.fields(["pages"])                                     | .fields(*names)
query.where(page=("/a", "/b"))                              | pages takes several
query.where(country=["NL"])                                 | query.each(country=[…])
query.where(country="Netherlands")                          | such as 'NL'
query.path("/blog/*")                                       | .where(page='/blog/*')
query.on(datetime(2026, 3, 1, 12))                          | give its .date()
StatsQuery(websites)                                        | .each(websites=…)
client.stats.get(host)                                      | StatsQuery('example.com')
client.stats.get_many(query)                                | or get_many([query])
client.stats.get_many([query]).to_pandas()                  | .collect()
client.stats.compare(host)                                  | StatsQuery('example.com')
client.stats.compare(stats, stats)                          | .compare_to(other)
comparison["visitors"]                                      | comparison.totals
stats["pages"]                                              | page views
stats.df                                                    | .to_pandas()
stats.pages.head(3)                                         | .to_pandas()
stats.compare_to("previous-year")                           | .compare(query, against=
comparison["pages"].of("New")                               | did you mean 'new'
query.last_week()                                           | .during()
list(client.websites)                                       | .list()
client.websites[0]                                          | .list()
client.websites.get(host)                                   | .list()
client.stats(host)                                          | use .get(StatsQuery(
WebsiteSpec.load(["a.example"])                             | a path, or a file
StatsQuery.from_url("https://a.example/")                   | give a host name alone
client.check("a.example").ok                                | False
client.websites.add(WebsiteSpec("a.example"))               | ensure([spec])
client.websites.add("https://a.example")                    | such as 'example.com'
client.websites.ensure("a.example")                         | ensure(['example.com'])
client.websites.ensure(websites)                            | WebsiteSpec.of(website)
client.websites.plan({"a.example": {}})                     | ensure(['example.com'])
"""


@pytest.mark.parametrize("row", CALLS.strip().splitlines())
def test_a_first_call(row: str) -> None:
    """It has the value that was meant, or an error or a warning with what to type."""
    call, words = (part.strip() for part in row.split("|"))
    host = "semicomplete.com"
    query = StatsQuery(host).fields("visitors", "pages", "histogram").last(days=3)
    with Emulator.demo().client() as client:
        names = {name: getattr(sitestats, name) for name in sitestats.__all__}
        names |= {**locals(), "datetime": datetime}
        names["websites"] = client.websites.list()
        names["stats"] = client.stats.get(query)
        names["comparison"] = client.stats.compare(query)
        try:
            said = repr(eval(call, names))
        except Exception as error:  # noqa: BLE001 - the error is what is looked at
            said = str(error)
    assert words in said
