"""``sitestats stats``, ``compare`` and ``url``: one website, and many."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest

from commands import TODAY, exit_code, rows_of
from emulator.inside import have_null_entries
from sitestats import Client, StatsQuery

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

HOST = "semicomplete.com"
BLOG = "blog.semicomplete.com"
LAST = ("--last", "4", "-f", "visitors")


# --- one website --------------------------------------------------------------------


def test_the_overview_is_for_people(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without options totals, a chart and tables are shown."""
    have_null_entries(monkeypatch, emulator)
    done = run("stats", HOST, "--last", 4)
    assert (done.code, done.err) == (0, "")
    for words in (
        "1,586 page views",
        "█",
        "/projects/xdotool/ ",
        "… 40 more; others may be beyond the limit",
        "countries",
        "(none)",
    ):
        assert words in done.out


def test_json_and_csv_are_for_programs(emulator: Emulator, run: Run) -> None:
    """JSON has everything that was requested, in ASCII. CSV is one table, with the same
    columns as for many websites; a row says whether the limit cut the list.
    """
    done = run("stats", HOST, "-f", "pageviews,pages", "--last", 4, "--format", "json")
    read = json.loads(done.out)
    assert (read["pageviews"], len(read["pages"])) == (1586, 50)
    assert (read["truncated"], done.out.isascii()) == (["pages"], True)
    done = run("stats", HOST, "-f", "pages", "--last", 4, "--format", "csv")
    rows = rows_of(done.out)
    first = {"value": "/projects/xdotool/", "pageviews": "203", "visitors": "154"}
    first |= {"hostname": HOST, "truncated": "true"}
    assert (len(rows), done.err) == (50, "")
    assert first.items() <= rows[0].items()
    csv = ("--last=4", "--format=csv", "--table=totals")
    names, totals = run("stats", HOST, *csv).out.splitlines()
    assert names.startswith("hostname,timezone,first_day,last_day,pageviews,visitors")
    assert totals.endswith(",1586,953,false")


@pytest.mark.parametrize("hosts", [[HOST], [HOST, BLOG]])
@pytest.mark.parametrize(
    "options",
    [
        ["-f", "pages,countries"],
        ["-f", "visitors,os_names"],
        ["-f", "visitors", "--all-events"],
    ],
)
def test_nothing_that_is_requested_is_dropped(
    emulator: Emulator, run: Run, hosts: list[str], options: list[str]
) -> None:
    """CSV of totals and a list, or of two lists, needs --table, before a request."""
    command = ["stats", *hosts, *options, "--last", 4, "--format", "csv"]
    done = run(*command)
    assert (done.code, done.out) == (2, "")
    assert "add --table with one of " in done.err
    assert emulator.requests == ()
    tables = done.err.strip().partition("one of ")[2].split(", ")
    assert len(tables) == 2
    for table in tables:
        assert run(*command, "--table", table).code == 0
    assert run(*command, "--table", "utm_terms").code == 2


EACH = """
--fields pagviews                         | did you mean 'pageviews'?
--where country                          | 'country' is not NAME=VALUE
--where country=NL --where country=BE    | given twice
--metadata a=b --metadata a=c            | given twice
--events a --all-events                  | give one of the two
--limit 0                                | --limit:
--since 2026-13-01                       | --since: '2026-13-01' is not a day
--last 3 --on today                      | --last, --last-weeks, --last-months
--last-weeks 1 --last-months 1           | give one of them
--last-weeks 0                           | --last: give a whole number
--with-today --last-weeks 1              | --with-today is for --last
--during 2026-1                          | is not a period: use --during 2026-01
--timeout 0                              | --timeout
--format xml                             | json
--since 2026-03-05 --until 2026-03-01    | --since and --until: the end
--interval hour --api-version 5          | use --api-version 6 or --interval day
--path /                                 | use --where page=/
--where page=/a*b                        | --param page=… sends it as it is
--events '*'                             | give each name by itself, or use --all-events
--since March                            | name the year, too: --during 2026-03
--path /a --where page=/b                | leave --path /a or the filters page and pages
--feild x                                | --fields
--where 'country = NL'                   | 'country = NL' has blanks around the name
--fields ''                              | --fields: '' is not a field
-- --last 3                              | --last is after --: write it before
"""
"""Wrong options for one website, for two and for all."""
COMMANDS = f"""
websites pla                             | No such command 'pla'
--format json websites list              | '--format'; write it after the command
websites --yes ensure x.csv              | '--yes'; write it after the command
websites add a.example -- --yes          | --yes is after --: write it before
stats                                    | name a HOST, or give --all or --hosts-from
stats --all {HOST}                       | --all: name no HOST
stats {HOST} {BLOG} --table pages --format csv | requested are totals; --fields requests
stats {HOST} --table pages               | --table pages: leave it out: only CSV, or
stats https://{HOST}                     | names no website below https://{HOST}: give
stats {HOST} {BLOG} --each moth          | --each
stats --hosts-from none.txt              | --hosts-from
stats https://a.example/{HOST}?search=paths%3Atopics | HOST: the parameter 'search'
compare {HOST} --last 3 --against previos_month | 'previos_month' is not a period
compare {HOST} --last 3 --against lst-year | did you mean 'last-year'?
compare {HOST} --last 3 --against 2024-01-09..2024-01-03 | --against
compare {HOST} --last 3 --against previous-month | is not whole months, such as
"""


def test_wrong_use_is_one_line(emulator: Emulator, run: Run) -> None:
    """A mistake is one line and exit code 2, with options in place of the builder's
    steps, and nothing is sent.
    """
    commands = COMMANDS
    for hosts in (HOST, f"{HOST} {BLOG}", "--all"):
        commands += EACH.replace("\n--", f"\nstats {hosts} --")
    for line in commands.split("\n"):
        command, _, words = line.partition(" | ")
        if command:
            unknown = ("--feild", "No such", "write it after", "-- --yes")
            mistyped = any(words in line for words in unknown)
            done = run(*shlex.split(command), mistyped=mistyped)
            assert (done.code, done.out) == (2, ""), command
            (told,) = done.err.splitlines()
            assert told.startswith("sitestats: "), command
            assert words in told
    assert emulator.requests == ()


def test_every_problem_is_reported_at_once(
    emulator: Emulator, run: Run, tmp_path: Path
) -> None:
    """Each wrong option has a line of its own, and so has each host name, with its
    place in a list.
    """
    options = ("--fields", "x", "--limit", 0, "--where", "y=z", "--path", "x")
    done = run("stats", "http://", *options)
    assert (done.code, len(done.err.splitlines())) == (2, 5)
    (tmp_path / "x.txt").write_text(f"{HOST}\nno host\n{BLOG}\n-x\n", "utf-8")
    done = run("stats", "--hosts-from", tmp_path / "x.txt", "--limit", "0")
    assert (done.code, len(done.err.splitlines())) == (2, 3)
    for words in ("x.txt:2: 'no host' ", "x.txt:4: ", "--limit"):
        assert words in done.err
    assert emulator.requests == ()


def test_control_characters_are_escaped(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control characters in paths and referrers are shown, not sent to the terminal;
    a file of CSV has them, and no formula for a spreadsheet, unless it is raw.
    """
    path, campaign = "/\x1b[2J\x1b]0;owned\x07", '=HYPERLINK("http://x/";"\x1b[2J")'
    row = {"path": path, "document_referrer": "a\u202eb", "utm_campaign": campaign}
    emulator.load([row, {"path": "/[bold]:smile:"}], hostname="evil.example")
    done = run("stats", "evil.example", "-f", "pages,referrers", "--last", 7)
    assert "/\\x1b[2J\\x1b]0;owned\\x07" in done.out
    assert "/[bold]:smile:" in done.out
    assert all(text.isprintable() for text in done.out.split("\n"))
    options = ("-f", "utm_campaigns", "--last", 7, "--format", "csv")
    (row,) = rows_of(run("stats", "evil.example", *options).out)
    assert row["value"] == f"'{campaign}"
    (row,) = rows_of(run("stats", "evil.example", *options, "--raw").out)
    assert row["value"] == campaign
    done = run("stats", "evil.example", "--last", 7, "--raw")
    assert done.code == 2
    assert "--raw is for CSV: add --format csv" in done.err
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    (row,) = rows_of(run("stats", "evil.example", *options).out)
    assert "\\x1b[2J" in row["value"]


def test_a_store_saves_requests(
    emulator: Emulator, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --store, or SITESTATS_STORE, days that are over are requested once."""
    day = str(TODAY - timedelta(days=2))
    command = ("stats", HOST, "--since", day, "--until", day, "--format", "json")
    first = run(*command, "--store", tmp_path / "store")
    monkeypatch.setenv("SITESTATS_STORE", str(tmp_path / "store"))
    assert run(*command).out == first.out
    assert len(emulator.requests) == 1


# --- queries ------------------------------------------------------------------------


def test_every_option_is_a_step_of_the_builder(emulator: Emulator, run: Run) -> None:
    """The options request what the builder's steps do; the address has no key."""
    done = run(
        *("url", HOST, "--base-url", "https://stats.example/analytics"),
        *("--fields", "pages,visitors", "--fields", "histogram"),
        *("--events", "download", "--events", "feed_read"),
        *("--since", "2026-01-01", "--until", "today-1d"),
        *("--timezone", "Europe/Amsterdam", "--interval", "week", "--limit", 7),
        *("--where", "country=NL", "--where", "pages=/a*", "--where", "pages=/b=c"),
        *("--metadata", "plan=pro", "--metadata", "paid=true"),
        *("--api-version", StatsQuery(HOST).params()["version"]),
        *("--param", "new=x&y"),
    )
    query = (
        StatsQuery(HOST)
        .fields("pages", "visitors", "histogram")
        .events("download", "feed_read")
        .between("2026-01-01", "today-1d")
        .timezone("Europe/Amsterdam")
        .interval("week")
        .limit(7)
        .where(country="NL", pages=["/a*", "/b=c"])
        .where_metadata(plan="pro", paid=True)
        .extra_param("new", "x&y")
    )
    assert done.code == 0, done.err
    assert done.out == query.url("https://stats.example/analytics") + "\n"
    assert emulator.requests == ()
    assert emulator.api_key not in run("url", HOST).out


PLAIN = StatsQuery(HOST).fields("visitors")


def test_short_forms_of_options(emulator: Emulator, run: Run) -> None:
    """Each short form for a period, a page or events is a step too. The overview's
    fields are requested only when nothing else is.
    """
    for option, value, query in (
        ("--on", "yesterday", PLAIN.on("yesterday")),
        ("--since", "today", PLAIN.between("today")),
        ("--until", "today-3d", PLAIN.between(None, "today-3d")),
        ("--last", "3", PLAIN.last(days=3)),
        ("--with-today", "--last=3", PLAIN.last(days=3, today=True)),
        ("--last-weeks=2", "--timezone=UTC", PLAIN.timezone("UTC").last(weeks=2)),
        ("--last-months=2", "--timezone=UTC", PLAIN.timezone("UTC").last(months=2)),
        ("--during", "2026-03", PLAIN.during("2026-03")),
        ("--path", "/a b", PLAIN.path("/a b")),
        ("--where", "page=*", PLAIN.where(page="*")),
        ("--events", "a", PLAIN.events("a")),
        ("--events", "a, b", PLAIN.events("a", "b")),
        ("--fields", "pages, os_names,", PLAIN.fields("visitors", "pages", "os_names")),
        ("--info", "--last=3", PLAIN.last(days=3).info()),
    ):
        base = ("--base-url", "https://s.org")
        done = run("url", HOST, "-f", "visitors", option, value, *base)
        assert done.out == query.url("https://s.org") + "\n", option
    assert "fields=" not in run("url", HOST, "--all-events").out
    assert "fields=pageviews,visitors,histogram" in run("url", HOST).out


def test_an_address_is_a_query(emulator: Emulator, run: Run) -> None:
    """The address of a dashboard is accepted, with its filters."""
    address = f"https://elsewhere.example/{HOST}/blog?country=NL"
    done = run("url", address, "-f", "visitors", "--base-url", "https://s.org/r")
    query = PLAIN.path("/blog").where(country="NL")
    assert done.out == query.url("https://s.org/r") + "\n"
    below = run("url", f"https://s.org/r/{HOST}", "--base-url", "https://s.org/r")
    assert below.out.startswith(f"https://s.org/r/{HOST}.json?")
    warned = run("url", HOST, "--where", "country=nl, be").err
    assert warned.startswith("sitestats: warning: --where country=…: ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--limit", "5"), "--limit 5 has no effect on visitors: add a list"),
        (("--interval", "week"), "--interval week has no effect on visitors"),
        (("--where", "referrer=a,b"), "by another run of this command"),
    ],
)
@pytest.mark.usefixtures("emulator")
def test_a_warning_names_options(
    run: Run, options: tuple[str, ...], words: str
) -> None:
    """A warning about a step names the option of that step, and what a shell can do."""
    done = run("stats", HOST, "-f", "visitors", "--last=4", "--format=csv", *options)
    assert words in done.err
    assert not re.search(r"\.\w+\(", done.err)


# --- many websites ------------------------------------------------------------------


def test_all_websites(emulator: Emulator, run: Run) -> None:
    """--all is every website of the user, by default with page views and visitors.
    Without websites there is a note, and CSV has its first line alone. If one of the
    list can't be read, the code is 5.
    """
    done = run("stats", "--all", "--last", 4, "--format", "jsonl")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["hostname"] for line in lines] == [*emulator.websites]
    assert lines[0]["visitors"] == 953
    assert {"timezone", "first_day", "last_day", "pageviews"} <= lines[0].keys()
    whole = json.loads(run("stats", "--all", "--last", 4, "--format", "json").out)
    assert [one["visitors"] for one in whole] == [one["visitors"] for one in lines]
    with emulator.client() as client:
        sites = [client.websites.list()[0].to_dict(), {"hostname": None}]
    emulator.fail_next(body=sites)
    done = run("stats", "--all", *LAST, "--format", "csv")
    assert (done.code, len(done.out.splitlines())) == (5, 2)
    for hostname in emulator.websites:
        emulator.remove_website(hostname)
    done = run("stats", "--all", *LAST, "--format", "csv")
    assert (done.code, len(done.out.splitlines())) == (0, 1)
    assert done.err == "sitestats: the user has no websites\n"


@pytest.mark.parametrize("file", ["hosts.txt", "-"])
def test_websites_of_a_list(
    emulator: Emulator,
    run: Run,
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """--hosts-from reads a file or standard input, beside the HOSTs; an address keeps
    its filters, and a line says that a website that is named again is read once.
    """
    address = f"https://elsewhere.example/{HOST}?country=NL"
    data = f"# ours\n{BLOG}\n{address}\n{BLOG.upper()}\n{HOST}.\n".encode()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hosts.txt").write_bytes(data)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    done = run("stats", HOST, "--hosts-from", file, *LAST, "--format", "csv")
    rows = rows_of(done.out)
    assert [row["hostname"] for row in rows] == [HOST, BLOG, HOST]
    assert [row["filters"] for row in rows] == ["", "", "country=NL"]
    assert done.err == f"sitestats: named again, and read once: {HOST}, {BLOG}\n"
    assert int(rows[2]["visitors"]) < int(rows[0]["visitors"])
    listed = run("websites", "list", "--format", "csv").out
    (tmp_path / "listed").write_text(listed.replace("hostname", "Domain"))
    columns = ("--hosts-from", "listed", "--column", "hostname=Domain")
    done = run("stats", *columns, *LAST, "--format", "csv")
    assert [row["hostname"] for row in rows_of(done.out)] == [*emulator.websites]


@pytest.mark.parametrize("command", ["stats", "compare"])
def test_a_word_is_days_in_the_zone_of_each_website(
    emulator: Emulator, run: Run, command: str, tmp_path: Path
) -> None:
    """`--during this-year` needs no zone: it is that of the service's list, for one
    website, several, a list and all, also when it is split; or that of --timezone,
    which is needed where the service does not list the website. `this-month` is
    compared with as many days of the month before.
    """
    emulator.add_website("far.example", timezone="Pacific/Kiritimati")
    (tmp_path / "hosts.txt").write_text("far.example")
    far = StatsQuery("far.example").timezone("Pacific/Kiritimati")

    def days_of(query: StatsQuery) -> tuple[str, str]:
        return query.params()["start"], query.params()["end"]

    def requested(*options: object) -> list[tuple[str, str]]:
        emulator.forget_requests()
        done = run(command, *options, "-f", "visitors", "--format", "csv")
        assert (done.code, done.err) == (0, "")
        return [
            (request.params["start"], request.params["end"])
            for request in emulator.requests
            if request.path == "/far.example.json"
        ]

    listed = ["--hosts-from", str(tmp_path / "hosts.txt")]
    for hosts in (["far.example"], [HOST, "far.example"], listed, ["--all"]):
        year = requested(*hosts, "--during", "this-year")
        assert days_of(far.during("this-year")) in year
    if command == "stats":
        months = ("--during", "last-quarter", "--each", "month")
        assert len(requested("far.example", *months)) == 3
        assert len(requested(*listed, "--last", 60, "--each", "month")) in {2, 3}
    else:
        month = far.during("this-month")
        both = {days_of(month), days_of(month.previous("period"))}
        for against in ("previous-period", "last-month"):
            words = ("--during", "this-month", "--against", against)
            assert {*requested("--all", *words)} == both
    emulator.forget_requests()
    zone = ("--during", "last-year", "--timezone", "UTC")
    assert run(command, "far.example", *zone).code == 0
    assert {request.path for request in emulator.requests} == {"/far.example.json"}
    emulator.forget_requests()
    done = run(command, "other.example", "--during", "last-month")
    assert (done.code, "--timezone" in done.err) == (2, True)
    assert [request.path for request in emulator.requests] == ["/api/websites"]
    two = (HOST, "other.example", "--during", "last-month", "-f", "visitors")
    done = run(command, *two, "--format", "csv")
    assert (done.code, HOST in done.out) == (3, True)
    assert "other.example" in done.err


@pytest.mark.parametrize(
    ("each", "period", "days"),
    [
        ("day", ("--last", 3), 3),
        ("week", ("--during", "2026-03"), 6),
        ("month", ("--since", "2026-01-15", "--until", "2026-03-02"), 3),
    ],
)
def test_a_period_is_split(
    emulator: Emulator, run: Run, each: str, period: tuple[Any, ...], days: int
) -> None:
    """--each splits the period, also of one website; it is cut at its ends."""
    done = run("stats", HOST, *period, "--each", each, "-f", "visitors", "--format=csv")
    rows = rows_of(done.out)
    assert len(rows) == days
    assert [row["first_day"] for row in rows] == sorted(r["first_day"] for r in rows)


def test_a_list_of_each_website(emulator: Emulator, run: Run) -> None:
    """A list has rows for each website, and says in each whether it was cut."""
    options = ("--last", 4, "-f", "countries", "--limit", 2, "--format", "csv")
    rows = rows_of(run("stats", HOST, BLOG, *options).out)
    assert [row["hostname"] for row in rows] == [HOST, HOST, BLOG, BLOG]
    assert [row["value"] for row in rows] == ["US", "DE", "US", "DE"]
    assert {row["truncated"] for row in rows} == {"true"}
    by_day = run("stats", HOST, BLOG, "--last", 4, "-f", "histogram", "--format=csv")
    assert len(rows_of(by_day.out)) == 8
    assert "date" in rows_of(by_day.out)[0]


@pytest.mark.parametrize("output", ["csv", "table", "json"])
@pytest.mark.parametrize("command", ["stats", "compare"])
def test_an_hour_that_comes_twice_is_two_rows(
    emulator: Emulator, run: Run, command: str, output: str
) -> None:
    """Each row has what tells it from the others, in every format: its moment, with the
    offset of the zone.
    """
    zone = ("--timezone", "Europe/Amsterdam", "--on", "2025-10-26")
    hours = ("-f", "histogram", "--interval", "hour", "--limit", 30)
    found = run(command, HOST, BLOG, *zone, *hours, "--format", output).out
    for offset in ("+02:00", "+01:00"):
        assert found.count(f"2025-10-26T02:00:00{offset}") == 2
    assert run(command, HOST, *zone, *hours).out.count(" 02:00 again ") == 1


def test_what_a_table_of_many_shows(emulator: Emulator, run: Run) -> None:
    """A table has a line for each website below its days, or the first ones of a list:
    ten, or as many as --limit.
    """
    done = run("stats", HOST, BLOG, "--last", 4)
    days, heading, *_ = done.out.splitlines()
    assert " to " in days
    assert heading.split() == ["website", "page", "views", "visitors"]
    assert "1,586" in done.out
    for limit, lines in (((), 10), (("--limit", 2), 2), (("--limit", 12), 12)):
        pages = ("--last", 4, "-f", "pages", *limit)
        assert run("stats", HOST, BLOG, *pages).out.count(HOST) == 2 * lines
        assert run("stats", HOST, *pages).out.count("\n/") == lines


def test_a_narrow_terminal_cuts_no_date_and_no_number(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text wraps; columns without room are left out from the right, and named. A
    terminal of no width has the usual one, and gets no workbook.
    """
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "0")
    assert "visitors" in run("stats", HOST, *LAST).out
    monkeypatch.setenv("COLUMNS", "60")
    done = run("stats", HOST, "--last", 2, "--each=day", "-f", "visitors,pageviews")
    assert done.out.count(str(TODAY - timedelta(days=1))) == 2
    monkeypatch.setenv("COLUMNS", "40")
    done = run("compare", HOST, BLOG, "--last", 2)
    assert "no room for" in done.out
    assert "…" not in done.out
    done = run("stats", HOST, "--last", 2, "--format", "xlsx")
    assert (done.code, done.out) == (2, "")
    assert "write it to a file, by > report.xlsx" in done.err


@pytest.mark.parametrize("output", ["csv", "jsonl", "json", "table"])
@pytest.mark.parametrize("command", ["stats", "compare"])
def test_what_failed_is_on_stderr(
    emulator: Emulator, run: Run, command: str, output: str
) -> None:
    """A website that fails spoils no other: it is a line on standard error, and an
    object in JSON. The code is 3 if waiting does not help, and 4 if it helps one of
    them, also if only one of the two requests of a comparison failed.
    """
    hosts = (HOST, "nobody.example", BLOG)
    done = run(command, *hosts, *LAST, "--format", output)
    assert done.code == 3
    assert done.out.count("semicomplete.com") == 2
    if output.startswith("json"):
        text = done.out if output == "json" else f"[{','.join(done.out.splitlines())}]"
        _, failed, _ = json.loads(text)
        assert (failed["hostname"], failed["status"]) == ("nobody.example", 404)
        assert "does not know" in failed["error"]
    else:
        assert "nobody" not in done.out
    line, summary = done.err.splitlines()
    assert line.startswith("sitestats: nobody.example today-4d to yesterday: the servi")
    assert summary == "sitestats: 1 of 3 failed"
    emulator.fail_next(1, status=503, path=f"/{HOST}.json")
    assert run(command, *hosts, *LAST, "--retries", 0).code == 4


def test_each_failure_is_a_line(emulator: Emulator, run: Run) -> None:
    """Each query that fails has a line with its website and its days, however many
    fail.
    """
    emulator.fail_next(1, status=500)
    names = [f"n{number}.example" for number in range(30)]
    done = run("stats", HOST, *names, *LAST, "--retries", 0, "--concurrency", 1)
    assert done.code == 4
    *lines, last = done.err.splitlines()
    assert "status 500" in lines[0]
    assert [line.split()[1] for line in lines] == [HOST, *names]
    assert last == "sitestats: 31 of 31 failed"
    address = "https://elsewhere.example/n.example"
    addresses = [f"{address}?country=NL", f"{address}?country=DE", f"{address}/a"]
    done = run("stats", *addresses, "--on", "yesterday")
    assert [line.split(": ")[1] for line in done.err.splitlines()[:3]] == [
        "n.example yesterday country=NL",
        "n.example yesterday country=DE",
        "n.example/a yesterday",
    ]


@pytest.mark.parametrize("command", ["stats", "compare"])
def test_a_listed_website_of_which_no_query_is_possible(
    emulator: Emulator, run: Run, command: str
) -> None:
    """A listed name or zone that no query takes is a failure of its own website."""
    names = emulator.websites
    with emulator.client() as client:
        body: Any = client.request("GET", "/api/websites")
    bad = {"localhost": "UTC", "a b": "UTC", "a.example": "Mars"}
    one = body["websites"][0]
    body["websites"][1:1] = [
        {**one, "hostname": name, "timezone": zone} for name, zone in bad.items()
    ]
    emulator.fail_next(times=None, body=body, path="/api/websites")
    options = ("--during", "last-month", "-f", "visitors", "--format", "jsonl")
    done = run(command, "--all", *options)
    found = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 3
    assert {one["hostname"] for one in found if "error" in one} == {*bad}
    assert {one["hostname"] for one in found} == {*bad, *names}
    assert f"3 of {len(names) + 3} failed" in done.err


# --- comparisons --------------------------------------------------------------------


def test_a_table_of_a_comparison(emulator: Emulator, run: Run) -> None:
    """For people it has totals and lists of both periods, or a line for each website
    below the days.
    """
    done = run("compare", HOST, "--last", 2)
    assert (done.code, done.err) == (0, "")
    for words in ("against", "totals", "visitors", "+125", "countries"):
        assert words in done.out
    options = ("--last", 2, "--against", "today-9d..today-7d")
    for fields in ("visitors,pageviews", "pages"):
        done = run("compare", HOST, BLOG, *options, "-f", fields)
        days, heading, *_ = done.out.splitlines()
        assert " to " in days
        assert ", against " in days
        assert days.endswith("; 2 days against 3 days")
        assert heading.split()[-2:] == ["visitors", "before"] or "change" in heading


@pytest.mark.parametrize("hosts", [[HOST], [HOST, BLOG], ["--all"]])
def test_websites_compared(emulator: Emulator, run: Run, hosts: list[str]) -> None:
    """CSV and JSON lines have a row for each website, with the same names."""
    command = ("compare", *hosts, "--last", 2, "-f", "visitors", "--format")
    rows = rows_of(run(*command, "csv").out)
    row = rows[0]
    assert row["hostname"] == HOST
    assert row["first_day_before"] < row["last_day_before"] < row["first_day"]
    assert int(row["visitors"]) - int(row["visitors_before"]) == 125
    assert row["visitors_change"] == "125"
    objects = [json.loads(line) for line in run(*command, "jsonl").out.splitlines()]
    assert len(objects) == len(rows)
    assert objects[0]["visitors_change"] == 125


@pytest.mark.parametrize(
    ("period", "against", "start"),
    [
        (["--last", "7"], "previous-period", "today-14d"),
        (["--during", "2026-03"], "previous-month", "2026-02-01"),
        (["--during", "2026-W10"], "previous-week", "2026-02-23"),
        (["--during", "2026-03"], "previous-year", "2025-03-01"),
        (["--during", "2026-03"], "2024-Q1", "2024-01-01"),
        (["--last", "7"], "2024-01-03 .. 2024-01-09", "2024-01-03"),
        (["--last", "7"], "last-year", f"{TODAY.year - 1}-01-01"),
    ],
)
def test_what_is_compared_with(
    emulator: Emulator, run: Run, period: list[str], against: str, start: str
) -> None:
    """--against takes the library's names, a period by its name or by a word in each
    website's zone, and two days.
    """
    options = ("-f", "visitors", "--against", against, "--format", "csv")
    assert run("compare", HOST, BLOG, *period, *options).code == 0
    found = [request.params.get("start") for request in emulator.requests]
    assert found.count(start) == 2


@pytest.mark.parametrize("output", ["table", "csv", "json", "jsonl"])
@pytest.mark.parametrize("command", ["stats", "compare"])
@pytest.mark.parametrize("hosts", [[HOST], [HOST, BLOG]])
def test_what_can_not_be_read_is_said_once(
    emulator: Emulator, run: Run, hosts: list[str], command: str, output: str
) -> None:
    """The rest is printed, one line on standard error says what is missing, and the
    exit code is 5, or 4 where it helps to wait for another website.
    """
    entry = {"pageviews": 3, "visitors": 2}
    rows = [entry | {"value": "NL"}, entry | {"value": "DE", "visitors": "2"}]
    body = {"countries": rows}
    options = ("--last", 2, "-f", "countries", "--retries", 0, "--format", output)
    for status, code in ((None, 5), *([(503, 4)] if len(hosts) > 1 else [])):
        emulator.fail_next(None, body=body, path=f"/{HOST}.json")
        if status:
            emulator.fail_next(None, status=status, path=f"/{BLOG}.json")
        done = run(command, *hosts, *options)
        emulator.clear_faults()
        assert done.code == code
        line, *others = done.err.splitlines()
        assert line.startswith(
            "sitestats: warning: some entries of 'countries' are left"
        )
        assert f" for {HOST}: $.countries[1].visitors: expected an integer" in line
        assert bool(others) is bool(status)
        assert "NL" in done.out
        assert "DE" not in done.out.split(BLOG)[0].replace("DENIED", "")


@pytest.mark.parametrize("command", ["stats", "compare"])
@pytest.mark.parametrize("hosts", [[HOST], [HOST, BLOG]])
def test_workbooks(
    emulator: Emulator,
    capsysbinary: pytest.CaptureFixture[bytes],
    command: str,
    hosts: list[str],
) -> None:
    """Statistics and comparisons are workbooks, with a row for each website."""
    options = ("--last", "3", "-f", "visitors,pages", "--format", "xlsx")
    code = exit_code(command, *hosts, *options)
    done = capsysbinary.readouterr()
    assert (code, done.err) == (0, b"")
    book = openpyxl.load_workbook(io.BytesIO(done.out))
    assert book.worksheets[0].max_row == 1 + len(hosts)


# --- formats, and requests at once ------------------------------------------------


def test_json_of_one_comparison_is_an_object_with_all_lists(
    emulator: Emulator, run: Run
) -> None:
    """It has what the table has, in the shape that ``stats`` prints."""
    done = run("compare", HOST, "--last", 2, "--format", "json")
    read = json.loads(done.out)
    assert done.code == 0
    assert read["visitors_change"] == 125
    assert {"pages", "countries", "referrers"} <= read.keys()
    assert read["first_day_before"] < read["first_day"]
    many = run("compare", HOST, BLOG, "--last", 2, "--format", "json")
    assert json.loads(many.out)[0]["visitors_change"] == 125


@pytest.mark.parametrize("command", ["stats", "compare"])
def test_as_many_requests_are_under_way_as_were_asked_for(
    emulator: Emulator, run: Run, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--concurrency 80 has 80 connections: a lower limit of the client would hold it
    back without a word.
    """
    made: list[int] = []
    from_env = Client.from_env

    def noted(**options: Any) -> Client:
        made.append(options["max_connections"])
        return from_env(**options)

    monkeypatch.setattr(Client, "from_env", noted)
    assert run(command, "--all", "--last", 2, "--concurrency", 80).code == 0
    assert made == [80]


@pytest.mark.parametrize("command", ["stats", "compare"])
def test_a_report_is_html_or_markdown(
    emulator: Emulator, run: Run, command: str
) -> None:
    """One website has all its lists, many have a row each, or the rows of one list."""
    options = ("--last", 2, "--format")
    for hosts in ([HOST], [HOST, BLOG]):
        done = run(command, *hosts, *options, "html")
        assert done.code == 0
        assert done.out.startswith("<!doctype html>")
        assert done.out.count("<html") == 1
        text = run(command, *hosts, *options, "markdown").out
        assert "visitors" in text
        assert HOST.replace(".", "") in text.replace("\\", "").replace(".", "")
        assert ("| pages |" in text) is (len(hosts) == 1)
    fields = ("-f", "visitors,pages", "--table", "pages")
    text = run(command, *hosts, *fields, *options, "markdown").out
    assert "/projects/xdotool/" in text
    done = run(command, *hosts, *fields[:2], *options, "markdown")
    assert (done.code, "--table" in done.err) == (2, True)


def test_a_report_without_rows_says_so(emulator: Emulator, run: Run) -> None:
    """No website of the period has an entry, or nothing changed."""
    options = ("-f", "utm_terms", "--on", "2001-01-01", "--format", "markdown")
    done = run("stats", HOST, BLOG, *options)
    assert (done.code, "none" in done.out) == (0, True)
    options = ("-f", "visitors", "--on", "2001-01-01", "--format", "markdown")
    done = run("compare", HOST, BLOG, *options)
    assert done.code == 0
    assert "| 0 | 0 |" in done.out
