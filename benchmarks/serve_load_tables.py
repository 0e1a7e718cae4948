# SPDX-License-Identifier: Apache-2.0
"""The table of serve_load.py."""
import figures
from side_table import Table

TITLE = "`linnet serve` under load"
BODIES = {"json": "JSON, {} bytes", "png": "PNG, {} bytes"}


def tables(result):
    lines = []
    for each in result["loads"]:
        runs = figures.good(each["runs"])
        body = BODIES[each["body"]].format(f"{each['body_bytes']:,}")
        batch = f"up to {each['batch']}" if each["batch"] > 1 else "off"
        if each["failed"]:
            lines.append((body, batch, each["connections"], f"failed: {each['failed']}",
                          "–", "–", "–", "–"))
            continue
        spreads = [figures.spread([run[key] for run in runs])
                   for key in ("per_second", "p50_us", "p99_us", "samples_per_batch")]
        refused = sum(run["refused"] + run["socket_errors"] for run in runs)
        lines.append((body, batch, each["connections"], figures.range_of(spreads[0]),
                      figures.range_of(spreads[1], 1000), figures.range_of(spreads[2], 1000),
                      figures.number(spreads[3]["median"]), refused))
    settings = result["settings"]
    about = (f"`{settings['workload']}`, one sample a request, for {settings['seconds']:g} s each: "
             "median (least to most) of the repetitions. wrk runs on the same processors with one "
             "thread; each connection sends its next request when its answer has come. Batching: "
             "the samples that `--batch` lets the server predict together; samples a batch: as its "
             "/metrics counts them. Refused: answers other than 200 and errors of connections.")
    return [Table("Requests a second, and milliseconds to an answer", about,
                  ("body", "batching", "connections", "requests/s", "p50, ms", "p99, ms",
                   "samples a batch", "refused"), lines)]
