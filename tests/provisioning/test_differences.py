"""How a website differs from its specification."""

from __future__ import annotations

import pytest

from fake_service import FakeService, Payload, specs, states
from plans import website
from sitestats import WebsiteSpec
from sitestats._common.wire import HttpResponse
from sitestats.provisioning._plan import plan_websites

pytestmark = pytest.mark.standard_library


def test_another_name_of_the_zone_is_no_difference() -> None:
    """A zone that the service lists by its other name needs no change by hand."""
    spec = WebsiteSpec("there.example", "Asia/Kathmandu")
    listed = website("there.example", timezone="Asia/Katmandu")
    assert plan_websites([spec], [listed]).complete


def test_a_listed_name_that_no_specification_can_have() -> None:
    """The service may list a host name that is none: it stops no plan of the others."""
    listed = [website("A B"), website("there.example")]
    plan = plan_websites([WebsiteSpec("there.example")], listed)
    assert plan.complete


WANTED = specs("a.example", "b.example", "c.example")


def test_a_website_that_differs_is_reported_and_not_changed() -> None:
    """What is given is compared with the list, and what is left out is not."""
    service = FakeService()
    service.add({"hostname": "a.example", "timezone": "Asia/Tokyo", "label": "shop"})
    spec = WebsiteSpec("a.example", public=True, label="store")
    (item,) = service.ensure([spec, *specs("b.example")]).differing
    assert [(d.name, d.wanted, d.found) for d in item.differences] == [
        ("public", True, False),
        ("label", "store", "shop"),
    ]
    assert [*map(str, item.differences)] == [
        "public is false and should be true",
        "label is 'shop' and should be 'store'",
    ]
    assert service.posts == ["b.example"]


def test_a_label_that_was_not_given_is_not_compared() -> None:
    """Without a label any label matches; an empty one matches none."""
    service = FakeService()
    service.add({"hostname": "a.example", "label": "shop"})
    service.websites["b.example"] = service.websites["a.example"] | {
        "hostname": "b.example",
        "label": None,
    }
    wanted = [WebsiteSpec("a.example"), WebsiteSpec("b.example", label="")]
    assert service.ensure(wanted).complete


def test_what_the_service_made_different_is_reported() -> None:
    """A zone and a visibility that the service changed are in the report."""

    def different(service: FakeService, payload: Payload) -> HttpResponse:
        service.process(payload)
        return service.added(payload, timezone="Asia/Tokyo", public=True)

    service = FakeService()
    service.add_handlers["a.example"] = [different]
    report = service.ensure(WANTED)
    assert states(report) == ["added"] * 3
    assert not report.complete
    assert [d.name for d in report.items[0].differences] == ["timezone", "public"]
