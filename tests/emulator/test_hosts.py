"""Host names of websites: their normal form, in every way of writing them."""

from __future__ import annotations

from bare_client import NOW, OPEN, add, bare_client, status
from sitestats.emulator import Emulator


def test_an_internationalised_name_is_kept_as_punycode() -> None:
    """A website added by its Unicode name is found by its punycode."""
    emulator = Emulator(now=NOW)
    emulator.add_website("BÜCHER.example", public=True)
    assert emulator.websites == ("xn--bcher-kva.example",)
    with bare_client(emulator, key=None) as client:
        for name in ("xn--bcher-kva.example", "b%C3%BCcher.example"):
            response = client.get(f"/{name}.json?version=6&fields=pageviews")
            assert response.json()["hostname"] == "xn--bcher-kva.example"


def test_adding_twice() -> None:
    """A duplicate is refused in every form of its name, and changes nothing."""
    emulator = Emulator()
    assert add(emulator, {"hostname": "example.com"}).status_code == 200
    response = add(emulator, {"hostname": "Example.COM.", "isPublic": True})
    assert response.status_code == 400
    assert emulator.websites == ("example.com",)
    assert status(emulator, None, OPEN) == 401
