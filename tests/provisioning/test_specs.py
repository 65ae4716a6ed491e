"""Website specifications: which values are accepted, normalised and refused."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from sitestats import WebsiteSpec
from sitestats._common.errors import SpecError
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
        ({"hostname": ""}, "hostname", "is not a valid host name"),
        ({"hostname": None}, "hostname", "None"),
        ({"timezone": "europe/amsterdam"}, "timezone", "'Europe/Amsterdam'"),
        ({"timezone": "+02:00"}, "timezone", "tz database"),
        ({"timezone": ""}, "timezone", "tz database"),
        ({"accept_differing": "yes"}, "accept_differing", "true or false"),
        ({"public": "true"}, "public", "true or false"),
        ({"public": 1}, "public", "true or false"),
        ({"hostname": b"a.example"}, "hostname", "of type bytes"),
        ({"timezone": 1}, "timezone", "tz database"),
        ({"label": 7}, "label", "is a str"),
        ({"label": "\ud800"}, "label", "surrogate"),
        ({"hostname": "*.a.example"}, "hostname", "is not a valid host name"),
    ],
)
def test_a_wrong_value_is_refused(
    arguments: dict[str, Any], place: str, advice: str
) -> None:
    """The error for a wrong value names its field, the section and what to do."""
    with pytest.raises(SpecError) as caught:
        WebsiteSpec(**{"hostname": "example.com"} | arguments)
    (problem,) = caught.value.problems
    assert problem.where == place
    assert advice in problem.message
    assert place in {"label", "accept_differing"} or problem.section == "4.2"


@pytest.mark.parametrize("method", ["plan", "ensure"])
def test_a_website_is_given_once(method: str) -> None:
    """One that is given twice is an error before a request is sent."""
    specs, emulator = [WebsiteSpec("a.example"), WebsiteSpec("A.example.")], Emulator()
    with emulator.client() as client, pytest.raises(SpecError) as caught:
        getattr(client.websites, method)(specs)
    assert [problem.rule for problem in caught.value.problems] == ["website-once"]
    assert emulator.requests == ()
