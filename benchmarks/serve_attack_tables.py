# SPDX-License-Identifier: Apache-2.0
"""The table of serve_attacks.py."""
from side_table import Table

TITLE = "`linnet serve` under attack"
DOUBTED = "times"


def tables(result):
    lines = []
    for row in result["rows"]:
        name = "none" if not row["attacks"] else row["attacks"][0] if len(row["attacks"]) == 1 else "all at once"
        lines.append((name, f"{row['answers']:,}", row["faults"], f"{1000 * row['p50_s']:.2f}",
                      f"{1000 * row['p99_s']:.1f}", f"{1000 * row['most_s']:.0f}", f"{row['bytes'] / 2**20:,.0f}"))
    end = "did not end" if result["end_s"] is None else f"ended {result['end_s']:.1f} s after it"
    about = (f"Four clients of `{result['settings']['workload']}` on the same processors, "
             f"{result['settings']['seconds']:g} s each; answers are compared bit by bit with `linnet predict`. slow: 70 "
             "sockets that send a line of a header every 3 s; many-slow: 300; deep: JSON that nests 1,000,000 deep; large: "
             "four at a time of 8 MB of `[[],[],…]`; pipelined: 1,000 requests at once; smuggled: ambiguous lengths; "
             "unread: 40 clients that ask for a page 1,000 times and read no answer; bombs: small images of 30,000 x "
             "30,000 pixels, tables of 4,000,000 empty fields. Memory: the most that the server had. On SIGTERM under all "
             f"attacks it {end}.")
    return [Table("Answers, and milliseconds to an answer", about,
                  ("attack", "answers", "wrong or missing", "p50, ms", "p99, ms", "most, ms", "memory, MiB"), lines)]
