"""Peak memory of training from a file: 200 MB beside 2 GB of jsonl, two passes.

Each file is trained on in a fresh process with checkpoint and cache. The large one holds the lines
of the small one ten times over, so the words are the same and whatever grows, grows with the file.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from _measure import Claim, show, write
from file_to_model import write_jsonl

TIMES = 10
_SCRIPT = """
import resource, sys
from surelearn import SureTextClassifier

model = SureTextClassifier(random_state=0, passes=2, n_jobs=-1)
model.fit_stream(sys.argv[1], checkpoint=sys.argv[1] + ".sure")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(path: Path) -> float:
    """Megabytes of resident memory at the most."""
    command = [sys.executable, "-c", _SCRIPT, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(run.stdout) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=200)
    size = 1_000_000 * parser.parse_args().megabytes
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.jsonl", Path(folder) / "large.jsonl"
        write_jsonl(small, size)
        with open(large, "wb") as out:
            for _ in range(TIMES):
                with open(small, "rb") as lines:
                    shutil.copyfileobj(lines, out, 1 << 20)
        peaks = {f"{size / 1e6:,.0f} MB": peak(small), f"{TIMES * size / 1e6:,.0f} MB": peak(large)}
    least, most = peaks.values()
    growth = most / least - 1
    lines_ = [[name, f"{mb:.0f}"] for name, mb in peaks.items()]
    show("Peak memory of training from a file", ["jsonl", "MB"], lines_)
    claim = Claim(
        "peak memory of fit_stream, 200 MB to 2 GB of jsonl", "-",
        f"{least:.0f} to {most:.0f} MB ({100 * growth:+.1f} %)", "< 5 % more", growth < 0.05,
    )  # fmt: skip
    write("stream_memory", {"peaks": peaks}, [claim], bytes=size, times=TIMES)


if __name__ == "__main__":
    main()
