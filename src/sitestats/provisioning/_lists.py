"""Lists of websites in files: names by line, CSV, TOML, JSON or a workbook of Excel."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import attrs

from sitestats._base.errors import InvalidInputError, Problem, warn
from sitestats._base.text import did_you_mean, shown
from sitestats._query.rules import Problems
from sitestats._wire.values import InJson

from ._files import OF_THE_SERVICE, folded, read_list
from ._mistakes import problem, refuse

Source: TypeAlias = str | os.PathLike[str] | BinaryIO
"""A path, or a file that is open for reading bytes."""
_FIELDS: Final = ("hostname", "timezone", "public", "label", "accept_differing")
_BY_NAME: Final = {folded(field): field for field in _FIELDS} | {"ispublic": "public"}
# Spreadsheets write true and false in the language of their user. These are the words
# of Excel and LibreOffice, and yes and no.
_TRUE: Final = """
    true yes 1 wahr ja waar vrai oui verdadero sí si vero sì verdadeiro sim prawda tak
    pravda ano áno igaz igen sand sann sant tosi kyllä doğru evet adevărat da tačno
    tacno točno res istina cert veritat egia egiazkoa tõene jah patiess jā taip
    teisingai rétt já gwir fíor benar ya đúng да так истина вярно тачно точно
    сапраўдна істина ақиқат чын чындык αληθές αληθες σωστό σωστο ναι
    ճշմարիտ ჭეშმარიტი אמת כן
    صحيح صواب صح نعم درست بله सही ठीक จริง 真 是 참 예
"""  # noqa: RUF001 - other alphabets
_FALSE: Final = """
    false no 0 falsch nein onwaar nee faux non falso não nao fałsz nie nepravda ne hamis
    nem falsk usann falskt nej nei epätosi ei fals nu нет ні не yanlış yanliş hayır
    hayir netačno netacno netočno neistina faltsua gezurra väär aplams nē ne
    neteisingai rangt gau falsa bréagach salah tidak sai ложь ложа невярно
    нетачно неточно несапраўдна брехня хибність хиба жалған жалган ялган ψευδές ψευδες
    λάθος λαθος όχι οχι
    կեղծ მცდარი שקר לא خاطئ خطأ لا نادرست خیر गलत เท็จ 假 否 거짓 아니요
"""  # noqa: RUF001 - other alphabets
_FLAGS: Final = {word.casefold(): True for word in _TRUE.split()} | {
    word.casefold(): False for word in _FALSE.split()
}
_BLANKS: Final = r"[\s\u200b-\u200f\u2060\ufeff]+"
_AROUND: Final = re.compile(f"^{_BLANKS}|{_BLANKS}$")
"""Blanks and invisible marks around a name, which come with it from other pages."""
_IGNORE: Final = ", or ignore it by ignore_columns=True (--ignore-columns)"


@attrs.frozen
class ListedHostname(InJson):
    """A host name of a list: see ``read_hostnames``."""

    text: str
    """The host name, unchecked; or the address of a dashboard."""
    where: str
    """Its place in the list, such as ``"hosts.txt:3"``."""


def read_hostnames(
    path: Source, *, columns: Mapping[str, str] | None = None
) -> list[ListedHostname]:
    r"""Read the host names of a list of websites, to query each of them.

    It reads the lists of ``WebsiteSpec.load``, with the same arguments and errors, and
    ignores other columns. The host names are not checked.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sitestats.provisioning import read_hostnames
    >>> with TemporaryDirectory() as directory:
    ...     path = Path(directory, "hosts.txt")
    ...     _ = path.write_text("semicomplete.com\nblog.semicomplete.com  # mine\n")
    ...     hosts = read_hostnames(path)
    >>> query = StatsQuery("semicomplete.com").fields("visitors").last(days=7)
    >>> queries = [query.website(host.text) for host in hosts]
    """
    columns = {"hostname": (columns or {}).get("hostname", "hostname")}
    hosts: list[ListedHostname] = []
    with Problems() as problems:
        for where, fields in load_fields(path, columns, problems, ignore=None):
            host = fields.get("hostname")
            if isinstance(host, str):
                hosts.append(ListedHostname(host, where))
            elif not isinstance(host, Problem):
                problems.append(
                    problem(f"a host name is text, not {shown(host)}", where)
                )
    return hosts


def load_fields(
    source: Source,
    columns: Mapping[str, str] | None,
    problems: list[Problem],
    *,
    ignore: bool | None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The place of each website of a list, and its fields. A field that can't be read
    is a ``Problem``, which is in *problems* too.

    With *ignore*, unknown columns are left out; with None, all but the host names, and
    without a warning.

    Raises:
        InvalidInputError: The list or its columns can't be understood, or it has no
            websites.
        OSError: It can't be read.
    """
    data: object
    if isinstance(source, str | os.PathLike):
        name = os.fsdecode(source)
        data = Path(name).read_bytes()
    else:
        name = str(getattr(source, "name", "<file>"))
        # Other things have no read(), and files of text no bytes.
        read: Any = getattr(source, "read", None)
        data = read() if callable(read) else None
    if not isinstance(data, bytes):
        refuse("give a path, or a file that is open for bytes", name)
    columns = dict(columns or {})
    rows = [*read_list(data, name, columns)]
    if not rows:
        refuse("the list has no websites", name)
    names = dict.fromkeys(
        key for _, values in rows for key, _ in values if key is not None
    )
    known = names and _fields_of(names, columns, name, ignore=ignore)
    for where, values in rows:
        fields: dict[str, Any] = {}
        for column, value in values:
            field = "" if column is None else known.get(column)
            if field in fields:
                fields[field] = problem(
                    f"two columns or keys are the {field}: leave one out", where
                )
            elif field is not None:
                fields[field] = _as_field(field, value)
        problems += [value for value in fields.values() if isinstance(value, Problem)]
        # What is wrong with the whole row says nothing of its values.
        if "" not in fields:
            yield where, {key: one for key, one in fields.items() if one is not None}


def _as_field(field: str, value: object) -> object:
    """A value as a specification has it: flags in words, without blanks around it."""
    if not isinstance(value, str) or field == "label":
        return value
    is_flag = field in {"public", "accept_differing"}
    text = _AROUND.sub("", value)
    return _FLAGS.get(text.casefold(), text) if is_flag else text


def _fields_of(
    names: Iterable[str], columns: Mapping[str, str], where: str, *, ignore: bool | None
) -> dict[str, str]:
    """The field that each of the *names* in a list stands for, if any."""
    known = {folded(column): field for field, column in columns.items()}
    for key, field in (_BY_NAME if ignore is not None else {}).items():
        if field not in columns:
            known.setdefault(key, field)
    fields = {name: known[folded(name)] for name in names if folded(name) in known}
    others = [name for name in names if folded(name) not in {*known, *OF_THE_SERVICE}]
    missing = {*_FIELDS} - {*fields.values()}
    wrong = [
        f"there is no column {shown(columns.get(field, field))}: add it, or map "
        "another one by columns= (--column)"
        for field in ("hostname", *columns)
        if field in missing
    ]
    wrong += [
        f"{shown(key)} is not a field: columns= names the column of a field"
        for key in {*columns} - {*_FIELDS}
    ]
    for name in others:
        hint = did_you_mean(folded(name), missing)
        if ignore is False or (hint and ignore):
            fields_or_hint = hint or f" ({', '.join(_FIELDS)})"
            wrong.append(
                f"{shown(name)} is not a field of a website{fields_or_hint}: map it by "
                "columns= (--column)"
            )
            if not hint:
                wrong[-1] += _IGNORE
    if wrong:
        raise InvalidInputError([problem(text, where) for text in dict.fromkeys(wrong)])
    if others and ignore:
        warn(f"{where}: ignored columns: {', '.join(map(shown, others))}")
    return fields
