"""Run the fault server by hand: ``python -m faults``, in the folder of the tests."""

from __future__ import annotations

import argparse
import contextlib
import json

from .cases import CASES, KINDS
from .mixture import MIXTURE
from .server import FaultServer

ALL = (*CASES, MIXTURE)


def main() -> None:
    """Serve one case or all, and print their addresses."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the table and end")
    parser.add_argument("--case", choices=[case.name for case in ALL], metavar="NAME")
    parser.add_argument("--port", type=int, default=0, help="the first port to use")
    parser.add_argument("--json", action="store_true", help="print addresses as JSON")
    options = parser.parse_args()
    if options.list:
        for kind, cases in KINDS.items():
            print(f"{kind}")
            for case in cases:
                print(f"  {case.name}: {case.does} ({case.gives})")
        return
    chosen = [case for case in ALL if options.case in {None, case.name}]
    with FaultServer(chosen, port=options.port) as server, _ended_by_hand():
        origins = {place.case.name: place.origin for place in server}
        if options.json:
            print(json.dumps(origins), flush=True)
        else:
            for name, origin in origins.items():
                print(f"{origin}  {name}", flush=True)
        server.wait()


def _ended_by_hand() -> contextlib.AbstractContextManager[None]:
    return contextlib.suppress(KeyboardInterrupt)


if __name__ == "__main__":
    main()
