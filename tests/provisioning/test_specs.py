"""Website specifications: which values are accepted, normalised and refused."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from both_clients import VARIANTS, opened
from sitestats import InvalidInputError, WebsiteSpec
from sitestats.emulator import Emulator


def test_a_specification_is_a_value() -> None:
    """Specifications with equal values are equal, hash equally, and can be pickled."""
    spec = WebsiteSpec("example.com", timezone="Europe/Amsterdam", label="")
    assert spec == WebsiteSpec("Example.COM.", "Europe/Amsterdam", label="")
    assert len({spec, pickle.loads(pickle.dumps(spec))}) == 1
    assert spec != WebsiteSpec("example.com", timezone="Europe/Amsterdam")


def test_a_host_name_alone_says_nothing_else() -> None:
    """What a specification leaves out is None, and so is NaN, as in a row of pandas."""
    spec = WebsiteSpec("bücher.example")
    assert spec.hostname == "xn--bcher-kva.example"
    assert (spec.timezone, spec.public, spec.label) == (None, None, None)
    nan: Any = float("nan")
    assert spec == WebsiteSpec("bücher.example", nan, public=nan, label=nan)


@pytest.mark.parametrize(
    ("arguments", "place", "advice"),
    [
        ({"hostname": "https://example.com"}, "hostname", "is not a valid host name"),
        ({"hostname": None}, "hostname", "None"),
        ({"timezone": "europe/amsterdam"}, "timezone", "'Europe/Amsterdam'"),
        ({"timezone": "+02:00"}, "timezone", "tz database"),
        ({"timezone": ""}, "timezone", "tz database"),
        ({"accept_differing": "yes"}, "accept_differing", "true or false"),
        ({"public": "true"}, "public", "true or false"),
        ({"public": 1}, "public", "true or false"),
        ({"hostname": b"a.example"}, "hostname", "of type bytes"),
        ({"timezone": 1}, "timezone", "tz database"),
        ({"label": 7}, "label", "give a str"),
        ({"label": "\ud800"}, "label", "surrogate"),
    ],
)
def test_a_wrong_value_is_refused(
    arguments: dict[str, Any], place: str, advice: str
) -> None:
    """The error for a wrong value names its field, the section and what to do."""
    with pytest.raises(InvalidInputError) as caught:
        WebsiteSpec(**{"hostname": "example.com"} | arguments)
    (problem,) = caught.value.problems
    assert problem.where == place
    assert advice in problem.message
    assert place in {"label", "accept_differing"} or problem.section == "4.2"


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("method", ["plan", "ensure"])
def test_a_list_has_specifications_and_host_names(variant: str, method: str) -> None:
    """Each once; the error for anything else has its place and what to type, before a
    request is sent.
    """
    spec, emulator = WebsiteSpec("a.example", label="x"), Emulator.demo()
    with opened(variant, emulator) as client:
        call, shop = getattr(client.websites, method), client.websites.list()[0]
        for given, words in (
            ([spec, "A.example."], r"^specs\[1\]: a\.example is given twice"),
            (["b.example", {}, 1], r"(?s)^specs\[1\]: .* type dict: .*specs\[2\]: "),
            ([shop], r"^specs\[0\]: .* type Website: .* WebsiteSpec\.of\(website\)"),
            *((one, "^give a list") for one in (spec, "a.example", {"a.example": 1})),
        ):
            with pytest.raises(InvalidInputError, match=words):
                call(given)
        assert len(emulator.requests) == 1
        items = call(iter(["bücher.example", spec])).items
    assert [one.spec for one in items] == [WebsiteSpec("bücher.example"), spec]


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_add_takes_a_host_name(variant: str) -> None:
    """The values of a specification would be lost; every problem is in the error."""
    spec, emulator = WebsiteSpec("a.example"), Emulator()
    with (
        opened(variant, emulator) as client,
        pytest.raises(InvalidInputError) as caught,
    ):
        client.websites.add(spec, timezone="europe/paris", public="yes", label=5)
    assert "WebsiteSpec: ensure([spec])" in str(caught.value)
    rules = [problem.rule.partition("-")[2] for problem in caught.value.problems]
    assert rules == ["hostname", "timezone", "public", "label"]
    assert emulator.requests == ()
