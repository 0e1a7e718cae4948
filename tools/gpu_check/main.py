# SPDX-License-Identifier: Apache-2.0
"""tools/gpu_check.sh: runs the phases of a call, each within its time, and writes what came of them
at once. Phases that failed are run again, alone, where time is left.

Exit status: 0 all is well, 1 something failed, 2 wrong arguments, 3 there is no device, 143 stopped
by SIGTERM. Rivals that fail are rows of the result, and no failure."""
import argparse
import datetime
import os
import signal
import sys
import time
import traceback
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TREE / "benchmarks"), str(TREE / "tools")]
import measure  # noqa: E402
import phases  # noqa: E402
import processes  # noqa: E402
import report_page  # noqa: E402
import rivals  # noqa: E402
from check import FILES, PHASES, ROOT, Check, Failed, LeftOut, NoDevice  # noqa: E402
from rehearsal import Rehearsal  # noqa: E402


class Terminated(BaseException):
    """SIGTERM has come."""


def terminate(number, frame):
    raise Terminated


def attempt(check, phase, limit):
    """Runs a phase within `limit` seconds; its line of PHASES."""
    began, word, error = time.monotonic(), "ok", None
    check.end, check.problems = began + limit, []
    check.say(f"== {phase.name}: {phase.about}; at most {limit:.0f} s")
    try:
        phase.run(check)
    except LeftOut as why:
        word = "left out"
        check.say(f"  {why}")
    except Failed as failed:
        error = failed
        check.problem(str(failed))
    except Exception as failed:  # the next phase may still tell something
        check.log.write(traceback.format_exc().encode())
        check.problem(f"{type(failed).__name__}: {failed}")
    check.keep_tuning()
    if check.problems:
        word = "failed"
    line = {"phase": phase.name, "seconds": round(time.monotonic() - began, 1),
            "limit": round(limit, 1), "result": word, "problems": check.problems}
    check.row(PHASES, line)
    check.say(f"   {phase.name}: {word}, {line['seconds']} s")
    report_page.write(check)
    return line, error


def no_time(check, phase):
    line = {"phase": phase.name, "seconds": 0, "limit": 0, "result": "left out",
            "problems": ["no time was left"]}
    check.row(PHASES, line)
    check.say(f"== {phase.name}: left out, no time")
    return line


def run(check, wanted, seconds):
    """All phases that are wanted, as far as the time goes; the last line of each, and the status."""
    end, lines, spare = time.monotonic() + seconds, {}, 0  # spare: what earlier phases left over
    for phase in wanted:
        limit = min(phase.seconds + spare, end - time.monotonic())
        if limit < 1:
            if not phase.spare:
                lines[phase.name] = no_time(check, phase)
            continue
        line, error = attempt(check, phase, limit)
        lines[phase.name] = line
        spare = max(spare + phase.seconds - line["seconds"], 0)
        if isinstance(error, NoDevice) or (phase.name == "programs" and error):
            check.say(f"Nothing more can run: {error}")
            return lines, 3 if isinstance(error, NoDevice) else 1
        works = [work for each in wanted for work in each.works]
        if phase.name == "programs":
            measure.start_early(check, works)
        if phase.name == "smoke" and works:  # their imports take seconds that tests can use
            rivals.start(check, QUICK)
    for phase in wanted:
        left = end - time.monotonic()
        if lines.get(phase.name, {}).get("result") == "failed" and left > AGAIN * phase.seconds:
            check.say(f"== once more, since {left:.0f} s are left: {phase.name}")
            lines[phase.name], _ = attempt(check, phase, left)
    return lines, int(any(line["result"] == "failed" or line["problems"]
                          for line in lines.values()))


AGAIN = 0.5  # of its time must be left for a phase that failed
QUICK = (rivals.EAGER, rivals.CAPTURED)


def arguments():
    names = [phase.name for phase in phases.ALL]
    parser = argparse.ArgumentParser(prog="tools/gpu_check.sh", description=__doc__)
    parser.add_argument("phases", nargs="*", metavar="PHASE",
                        help=f"phases to run, of {', '.join(names)}")
    parser.add_argument("--call", type=int, choices=tuple(phases.CALLS),
                        help="run the first or the second half, each in less than 10 minutes")
    parser.add_argument("--list", action="store_true", help="print the phases and their seconds")
    parser.add_argument("--rehearse", action="store_true", help="run on the simulated device")
    parser.add_argument("--out", help="folder of the results; by default $OUT or "
                        "benchmarks/results/gpu-<date>")
    parser.add_argument("--seconds", type=float, help="time limit of all phases in seconds; by "
                        "default the call's, or what the phases may take")
    options = parser.parse_args()
    unknown = [name for name in options.phases if name not in names]
    if unknown:
        parser.error(f"unknown phase '{unknown[0]}'; expected {', '.join(names)}")
    if (options.call is None) == (not options.phases) and not options.list:
        parser.error("expected --call 1, --call 2 or the names of phases")
    known = {phase.name: phase for phase in phases.ALL}
    begin = dict.fromkeys([phase.name for phase in phases.BEGIN] + options.phases)
    options.wanted = phases.CALLS[options.call] if options.call else \
        [known[name] for name in begin]
    if options.seconds is None:
        options.seconds = phases.SECONDS[options.call] if options.call else \
            sum(phase.seconds for phase in options.wanted)
    return options


def main():
    options = arguments()
    if options.list:
        for call, of_it in phases.CALLS.items():
            print(f"--call {call}, {phases.SECONDS[call]} s at most:")
            for phase in of_it:
                print(f"  {phase.name:14} {phase.seconds:4} s  {phase.about}")
        print("also, by name:")
        for phase in phases.ASKED:
            print(f"  {phase.name:14} {phase.seconds:4} s  {phase.about}")
        return 0
    date = datetime.datetime.now().strftime("%Y-%m-%d-%H%M")
    out = options.out or os.environ.get("OUT") or ROOT / f"benchmarks/results/gpu-{date}"
    try:
        rehearsal = Rehearsal() if options.rehearse else None
        check = Check(out, rehearsal)
    except OSError as error:
        print(f"tools/gpu_check.sh: cannot write to {out}: {error.strerror}", file=sys.stderr)
        return 2
    for name in FILES:  # of an earlier run
        if name != "log.txt":
            (check.out / name).unlink(missing_ok=True)
    signal.signal(signal.SIGTERM, terminate)
    lines, status = {}, 143
    began = time.monotonic()
    try:
        lines, status = run(check, options.wanted, options.seconds)
    except (Terminated, KeyboardInterrupt):
        check.say("Stopped; the results so far are whole.")
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if check.early:
            check.early.close_all()
        rivals.stop(check)
        processes.end_all()
        check.keep_tuning()
        report_page.write(check)
    print((check.out / "report.md").read_text())
    bad = [line["phase"] for line in lines.values() if line["result"] != "ok"]
    check.say(f"{len(lines)} phases, {len(bad)} did not end well{': ' if bad else ''}"
              f"{', '.join(bad)}; {time.monotonic() - began:.0f} s; results in {check.out}")
    return status


if __name__ == "__main__":
    sys.exit(main())
