# SPDX-License-Identifier: Apache-2.0
"""The tables of c_file.py."""
import figures
from side_table import Table

TITLE = "A network as one C file, beside the library and onnxruntime"
WORDS = {"c": "C file, f32, `-O2`", "c-int8": "C file, int8, `-O2`",
         "c-quantized": "C file, quantized, `-O2`", "c-quantized-native": "C file, quantized, `-O3 -march=native`",
         "c-native": "C file, f32, `-O3 -march=native`",
         "c-int8-native": "C file, int8, `-O3 -march=native`",
         "linnet": "the library: a `Predictor`", "onnxruntime": "onnxruntime, from Python"}


def latency(result):
    lines = []
    for network in result["networks"]:
        name = f"`{network['name']}`"
        ours = network["engines"]["linnet"]["median_us"]
        for key, engine in network["engines"].items():
            spread = engine["median_us"]
            if engine["failed"]:
                lines.append((name, WORDS[key], f"failed: {engine['failed']}", "–", "–"))
            else:
                over = f"{spread['median'] / ours['median']:.2f}" if ours else "–"
                lines.append((name, WORDS[key], figures.range_of(spread), over,
                              "–" if engine["difference"] is None else
                              f"{engine['difference']:.1e}"))
            name = ""
    about = ("Microseconds from a sample to its outputs on one thread, sample after sample: each "
             "process takes the median of its calls; shown is the median of the processes (least "
             "to most). Difference: of the outputs from the library's, the largest over the "
             "largest output, on 64 samples. onnxruntime is called from Python with bound "
             "arrays; a graph of one Identity takes "
             f"{figures.range_of(result['onnxruntime_call_us'])} µs there.")
    return Table("Latency of one sample", about,
                 ("network", "engine", "µs", "over the library", "difference"), lines)


def sizes(result):
    lines = []
    for network in result["networks"]:
        name = f"`{network['name']}`, {network['parameters']:,} parameters"
        for key, words in (("c", "C file, f32"), ("c-int8", "C file, int8"), ("c-quantized", "C file, quantized")):
            each = network["engines"].get(key)  # older results have fewer
            if each is None or each["failed"]:
                continue
            size = each["size"]
            lines.append((name, words, f"{each['source_bytes']:,}",
                          f"{size['text'] + size['data']:,}", f"{size['bss']:,}"))
            name = ""
        for words, size in network["model_files"].items():
            lines.append(("", words, f"{size:,}", "–", "–"))
    about = ("Bytes. Object: text and data of the C file compiled by `gcc -std=c99 -O2 -c`, which is "
             "all that it adds to a program, weights included; static memory: its bss.")
    return Table("Size", about, ("network", "form", "file", "object", "static memory"), lines)


def programs(result):
    lines = [(each["engine"], each["what"], f"{each['bytes'] / 1e6:.1f}")
             for each in result["programs"]]
    about = "What a program needs beside a model's file; a C file needs the C library alone."
    return Table("Libraries", about, ("engine", "files", "MB"), lines)


def tables(result):
    return [latency(result), sizes(result), programs(result)]
