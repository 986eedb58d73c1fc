"""``make certify``: every certificate again, each also with a claim 1 % better, which must fail.

Ends with 1 if one differs from the stored table, or the better claim comes out.
"""

import sys
import time

from mhabook.certificates import NotCertified, certificates
from mhabook.tables import stored


def main() -> int:
    """How many certificates are not as they must."""
    table, wrong, began = stored("certificates.npz"), 0, time.perf_counter()
    kept = dict(zip(table["id"].tolist(), table["value"].tolist(), strict=True))
    for one in certificates.values():
        start = time.perf_counter()
        value = one.certify()
        seconds = time.perf_counter() - start
        try:
            one.certify(one.better)
            better = "COMES OUT"
        except NotCertified as why:
            better = f"does not come out: {why}"
        is_right = value == kept.get(one.id) and better != "COMES OUT"
        wrong += not is_right
        print(f"{'' if is_right else 'WRONG: '}{one.id} ({seconds:.1f} s): {value}")
        print(f"    on {one.on}\n    1 % better {better}", flush=True)
    print(f"{len(certificates)} certificates in {time.perf_counter() - began:.0f} s")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main()))
