#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ten ordinary networks that Linnet was not tuned for, or eighteen further ones, beside a tuned PyTorch, in turn.

    run.py --linnet PYTHON --torch PYTHON [--further] [--repetitions N] [--compile] [--onnx] [--out NAME] [NETWORK...]

Each PYTHON is an interpreter that has the package (a wheel of `./dev wheel`; PyTorch from PyPI; for --onnx also onnx,
onnxscript, onnxruntime and openvino). Every repetition is a fresh process on two threads. Prints and writes a table of
medians (least to most) and everything measured as JSON beside it. Ratios above 1 say that Linnet is faster; shares of
the roof, how much of the machine's measured peaks of arithmetic and memory it uses."""
import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import in_turn  # noqa: E402
from in_turn import TUNED, cell, ratios  # noqa: E402

NAMES = ["table-mlp", "keras-cnn", "resnet18", "mobilenet", "lstm", "transformer", "conv1d", "autoencoder",
         "convnext", "vit"]
FURTHER = ["lenet", "vgg11", "densenet", "resnext", "inverted-residuals", "mixer", "unet", "conv-autoencoder",
           "generator", "bidirectional-gru", "two-lstms", "simple-rnn", "wavenet", "text-cnn", "character-model",
           "long-attention", "deep-mlp", "batches-of-eight"]
ONNX_ENGINES = ["onnxruntime", "openvino"]
MEASURES = {"train": "training", "batch": "predicting a batch", "one": "predicting one"}
ROOFS = ("train_roof", "batch_roof")  # Linnet's shares of this machine's measured peaks


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NETWORK", help=", ".join(NAMES + FURTHER))
    parser.add_argument("--linnet", required=True, metavar="PYTHON", help="a Python that has Linnet")
    parser.add_argument("--torch", required=True, metavar="PYTHON", help="a Python that has PyTorch")
    parser.add_argument("--further", action="store_true", help="the eighteen further networks instead of the ten")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N")
    parser.add_argument("--compile", action="store_true", help="also beside torch.compile")
    parser.add_argument("--onnx", action="store_true", help="predictions also beside onnxruntime and OpenVINO")
    parser.add_argument("--out", type=Path, metavar="NAME", help="write NAME.json and NAME.md")
    options = parser.parse_args()
    for name in options.names:
        if name not in NAMES + FURTHER:
            parser.error(f"there is no network '{name}'; expected one of {', '.join(NAMES + FURTHER)}")
    return options


def repetitions(name, options):
    """{engine: its results}, the engines in turn."""
    engines = {"linnet": ([options.linnet, "-B", str(HERE / "linnet_side.py"), name], {}),
               "torch": ([options.torch, "-B", str(HERE / "torch_side.py"), name], TUNED)}
    if options.compile:
        engines["torch.compile"] = ([options.torch, "-B", str(HERE / "torch_side.py"), name, "compile"], TUNED)
    if not options.onnx:
        return in_turn.repeated(engines, options.repetitions)
    with tempfile.TemporaryDirectory() as folder:
        side = [options.torch, "-B", str(HERE / "onnx_side.py")]
        subprocess.run([*side, "export", name, folder], check=True, stdout=subprocess.DEVNULL)
        for engine in ONNX_ENGINES:
            engines[engine] = ([*side, engine, name, folder], {})
        return in_turn.repeated(engines, options.repetitions)


def best_of_onnx(found):
    """Linnet's ratios to the faster of the two engines, of each repetition, by measure."""
    both = [each for each in zip(found["linnet"], *(found[engine] for engine in ONNX_ENGINES)) if all(each)]
    return {measure: [ours[measure] / max(peer[measure] for peer in peers) for ours, *peers in both]
            for measure in ("batch", "one")}


def columns(found):
    """{head of the table: ratios of each repetition}"""
    result = {f"{text}, × {peer}": ratios(found, peer, measure) for peer in found
              if peer not in ("linnet", *ONNX_ENGINES) for measure, text in MEASURES.items()}
    if ONNX_ENGINES[0] in found:
        best = best_of_onnx(found)
        result |= {f"{MEASURES[measure]}, × the better of {' and '.join(ONNX_ENGINES)}": best[measure]
                   for measure in best}
    return result


def table(result):
    rows = {name: columns(found) for name, found in result["networks"].items()}
    heads = list(next(iter(rows.values())))
    lines = [f"| network | {' | '.join(heads)} | of the roof: training / a batch | first epoch, s | memory, MiB |",
             "| --- |" + " --- |" * (len(heads) + 3)]
    for name, found in result["networks"].items():
        cells = [cell(rows[name][head]) for head in heads]
        cells.append(" / ".join(f"{statistics.median(run[roof] for run in found['linnet'] if run):.2f}"
                                for roof in ROOFS))
        for measure, digits in (("first_epoch", 2), ("memory", 0)):
            cells.append(" / ".join(f"{statistics.median(run[measure] for run in runs if run):.{digits}f}"
                                    for runs in found.values() if any(run and measure in run for run in runs)))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    medians = [statistics.median(statistics.median(row[head] or [0]) for row in rows.values()) for head in heads]
    lines.append("| median | " + " | ".join(f"{each:.2f} ×" for each in medians) + " | | | |")
    return "\n".join(lines)


def main():
    options = arguments()
    result = in_turn.begun(repetitions=options.repetitions, networks={})
    for name in options.names or (FURTHER if options.further else NAMES):
        result["networks"][name] = repetitions(name, options)
        print(table({"networks": {name: result["networks"][name]}}).splitlines()[2], flush=True)
    print(table(result))
    if options.out:
        which = "Eighteen further networks" if options.further else "Ten networks"
        engines = " / ".join(next(iter(result["networks"].values())))
        in_turn.write(options.out, result, "ordinary/run.py", f"{which} that Linnet was not tuned for",
                      f"2 threads; load average {result['load']:.2f} at the start; {options.repetitions} repetitions, each a "
                      f"fresh process, engines in turn; first epoch and memory: {engines}.", table(result))


main()
