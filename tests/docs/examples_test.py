#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C++ of the manual stands in examples/, which the build compiles and tests run: examples_test.py
[COMPILER INCLUDE_FOLDER...].

A block without a program is marked as a fragment, with the declarations that it needs:
    <!-- fragment: Model model; -->
The compiler checks the syntax and types of all fragments in one file, and of the blocks of the pages that the
command writes, each of which makes one layer, optimizer or schedule. A block ```text is what an example prints."""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = {"README.md": ["fashion_mnist"],
         "docs/start/cpp.md": ["fashion_mnist"],
         "docs/tutorial/1-first-network.md": ["fashion_mnist"],
         "docs/tutorial/2-own-data.md": ["own_data"],
         "docs/tutorial/3-own-layer-and-loss.md": ["own_layer_and_loss"],
         "docs/tutorial/4-own-loop.md": ["own_loop"],
         "docs/tutorial/5-transfer-learning.md": ["transfer"],
         "docs/data.md": ["own_data", "sequences"],
         "docs/inference.md": ["inference"],
         "docs/resume.md": [],
         **{f"docs/guides/{page}.md": [] for page in ("table-inputs", "series", "images")},
         "docs/own-layers.md": ["own_layer_and_loss", "gan", "derivatives"],
         "docs/training.md": ["continued", "own_loop", "gan", "metrics_and_callbacks"]}
DESCRIBED = ("docs/layers.md", "docs/optimizers.md")
BLOCK = re.compile(r"(?:^<!-- fragment:(.*?)-->\n)?^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
compiler, includes = None, []


def source(example):
    return (ROOT / "examples" / f"{example}.cpp").read_text()


def unindented(text):
    """The text as it stands at the file's level, in a function, in a loop and in what that holds."""
    yield text
    for indent in (2, 4, 6):
        yield re.sub(rf"^ {{{indent}}}", "", text, flags=re.MULTILINE)


def prints(example):
    """What the example prints, by the comment at its end."""
    lines = source(example).partition("\n// Prints:\n")[2].splitlines(keepends=True)
    return "".join(line.removeprefix("//").removeprefix("   ") for line in lines)


class Manual(unittest.TestCase):
    def test_every_block_stands_in_an_example(self):
        for page, examples in PAGES.items():
            programs = [text for example in examples for text in unindented(source(example))]
            blocks = BLOCK.findall((ROOT / page).read_text())
            self.assertTrue(blocks, page)
            for context, block in blocks:
                if context == "":
                    with self.subTest(page=page, examples=examples):
                        self.assertTrue(any(block in text for text in programs), block)

    def test_every_fragment_compiles(self):
        if compiler is None:
            self.skipTest("no compiler was named")
        text = "#include <linnet/linnet.h>\n#include <cstdio>\nusing namespace linnet;\n"
        count = 0
        for page in PAGES:
            for context, block in BLOCK.findall((ROOT / page).read_text()):
                if context != "":
                    count += 1
                    text += f"namespace fragment{count} {{ void of_{Path(page).stem.replace('-', '_')}() {{"
                    text += f"\n{context}\n{block}}} }}\n"
        for page in DESCRIBED:
            blocks = BLOCK.findall((ROOT / page).read_text())
            self.assertGreater(len(blocks), 10, page)
            text += f"void of_{Path(page).stem}() {{\n" + "".join(f"(void){block.rstrip()};\n" for _, block in blocks) + "}\n"
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "fragments.cpp"
            file.write_text(text)
            run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wno-unused", "-Werror",
                                  *(f"-I{folder}" for folder in includes), file],
                                 text=True, capture_output=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr + "\n" + text)

    def test_what_a_page_shows_is_what_its_example_prints(self):
        for page, examples in PAGES.items():
            printed = "".join(prints(example) for example in examples)
            for block in PRINTED.findall((ROOT / page).read_text()):
                with self.subTest(page=page, examples=examples):
                    self.assertIn(block, printed)

    def test_the_tutorial_leads_on(self):
        pages = sorted(page for page in PAGES if page.startswith("docs/tutorial/"))
        self.assertEqual(len(pages), 5)
        for number, page in enumerate(pages):
            last = (ROOT / page).read_text().rstrip().rpartition("\n\n")[2]
            links = re.findall(r"\]\(([^)]*)\)", last)
            follower = Path(pages[number + 1]).name if number + 1 < len(pages) else "../inference.md"
            self.assertEqual(links[0], follower, page)
            self.assertTrue(any(link.startswith("../") for link in links[1:]), page)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _, compiler, *includes = sys.argv
        del sys.argv[1:]
    unittest.main()
