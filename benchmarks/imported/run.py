#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Image models of timm, by both of PyTorch's exporters: which files are imported, whether the answers are
onnxruntime's, and how fast one image is on one thread, in turn.

    run.py --linnet PYTHON --peer PYTHON [--repetitions N] [--cache FOLDER] [--out NAME] [ARCHITECTURE...]

PYTHON of --linnet has the package; that of --peer has torch, timm, onnx, onnxscript and onnxruntime from PyPI. Weights
are drawn. A ratio above 1 says that Linnet is faster."""
import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import in_turn  # noqa: E402

ARCHITECTURES = """resnet18 resnet26d seresnet18 resnest14d res2net50_14w_8s dla34 hrnet_w18_small densenet121 vgg11
mobilenetv2_100 mobilenetv3_small_100 mobilenetv3_large_100 mnasnet_small ghostnet_100 repghostnet_050
rexnet_100 lcnet_050 tinynet_e efficientnet_b0 efficientnet_lite0 tf_efficientnetv2_b0 regnetx_002 regnety_002 repvgg_a0
xception41 inception_v3 cspresnet50 darknet53 nfnet_l0 convnext_atto convnextv2_atto vit_tiny_patch16_224
deit_tiny_patch16_224 pit_ti_224 levit_128s swin_tiny_patch4_window7_224 cait_xxs24_224 xcit_nano_12_p8_224 mobilevit_xxs
edgenext_xx_small efficientformer_l1 fastvit_t8 poolformer_s12 mixer_s16_224 gmlp_ti16_224 resmlp_12_224
visformer_tiny""".split()
EXPORTERS = ("torchscript", "dynamo")
NOT_EXPORTED = "PyTorch does not export it"
LARGEST_ERROR = 1e-3  # of the largest answer


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="ARCHITECTURE", default=ARCHITECTURES)
    parser.add_argument("--linnet", required=True, metavar="PYTHON")
    parser.add_argument("--peer", required=True, metavar="PYTHON")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="keeps the exported files")
    parser.add_argument("--out", type=Path, metavar="NAME", help="write NAME.json and NAME.md")
    return parser.parse_args()


def side(python, program, *words):
    return in_turn.measured([python, "-B", str(HERE / program), *map(str, words)], {"OMP_NUM_THREADS": "1"})


def exported(name, exporter, folder, options):
    """The file, or None where PyTorch cannot write it."""
    path = folder / f"{name}.{exporter}.onnx"
    if not Path(f"{path}.npz").exists() and side(options.peer, "export_side.py", name, exporter, path) is None:
        return None
    return path


def model(name, folder, options):
    """What is known of an architecture: of each exporter's file, and the speeds of the last one that is imported."""
    found = {"name": name, "files": {}, "linnet": [], "onnxruntime": []}
    fastest = None
    for exporter in EXPORTERS:
        path = exported(name, exporter, folder, options)
        first = side(options.linnet, "linnet_side.py", path) if path else {"refused": NOT_EXPORTED}
        found["files"][exporter] = first or {"refused": "the process failed"}
        if first and "speed" in first:
            fastest = path
    for _ in range(options.repetitions if fastest else 0):
        ours, theirs = side(options.linnet, "linnet_side.py", fastest), side(options.peer, "onnxruntime_side.py", fastest)
        if ours and theirs and "speed" in ours:
            found["linnet"].append(ours)
            found["onnxruntime"].append(theirs)
    return found


def word_of(file):
    if "refused" in file:
        return file["refused"].replace("|", "/")[-120:]
    return f"{file['error']:.0e}" + (" **wrong**" if file["error"] > LARGEST_ERROR else "")


def row(found):
    speeds = [f"{1e3 / statistics.median(each['speed'] for each in found[engine]):.2f}" if found[engine] else "–"
              for engine in ("linnet", "onnxruntime")]
    ratio = in_turn.cell(in_turn.ratios(found, "onnxruntime", "speed"))
    return " | ".join(["", found["name"], *(word_of(found["files"][each]) for each in EXPORTERS), *speeds, ratio, ""]).strip()


def summary(models):
    right = [file for each in models for file in each["files"].values() if file.get("error", 1) <= LARGEST_ERROR]
    files = sum(file != {"refused": NOT_EXPORTED} for each in models for file in each["files"].values())
    medians = [statistics.median(in_turn.ratios(each, "onnxruntime", "speed")) for each in models if each["linnet"]]
    counts = f"{len(right)} of {files} files are imported and answer as onnxruntime does"
    if not medians:
        return counts + "."
    return (f"{counts}; one image on one thread is "
            f"{statistics.median(medians):.2f} times as fast in median, {min(medians):.2f} at least and {max(medians):.2f} at "
            f"most; {sum(m < 0.9 for m in medians)} of {len(medians)} are below 0.9.")


def markdown(result):
    head = f"# Image models of timm, imported, {result['date']}"
    how = (f"{result['machine']['processor']}, one thread; load average {result['load']:.2f} at the start; {result['repetitions']} "
           "repetitions in turn, each a fresh process, the least of a second's calls. Errors are parts of the largest answer.")
    table = ["| model | by TorchScript | by torch.export | Linnet, ms | onnxruntime, ms | ratio |",
             "| --- | --- | --- | --- | --- | --- |", *(row(each) for each in result["models"])]
    return "\n".join([head, "", how, "", "Made by `benchmarks/imported/run.py`.", "", summary(result["models"]), "", *table, ""])


def main():
    options = arguments()
    result = in_turn.begun(repetitions=options.repetitions, models=[])
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.cache or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in options.names:
            result["models"].append(model(name, folder, options))
            print(row(result["models"][-1]), flush=True)
    print(summary(result["models"]))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
        options.out.with_suffix(".md").write_text(markdown(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
