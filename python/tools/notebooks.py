#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes the examples as notebooks: notebooks.py [NAME...] writes examples/python/NAME.ipynb of NAME.py.

The docstring becomes the text above, blank lines separate the cells, and a cell whose last line gives a name
to a network, a history or a report shows it. Examples that need files get generated ones in a temporary folder,
or those of the environment variable LINNET_DATA. Needs nbclient, ipykernel and matplotlib beside linnet;
`./dev notebooks` installs them."""
import ast
import os
import re
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"
SHOWN = ("network", "history", "report", "summary", "importance")
sys.path.insert(0, str(ROOT / "tests" / "python"))


def census(folder):
    archive = Path(os.environ["LINNET_DATA"], "tabular", "tabular.tar.xz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return next(folder.rglob("adult-train.csv"))


def reviews(folder):
    return Path(os.environ["LINNET_DATA"], "imdb", "train.tsv.xz")


def image_folder(folder):
    import files
    return files.image_folder(folder / "digits", images=1000)


INPUTS = {"images": image_folder, "text": reviews, "tabular_sklearn": census}


def cells_of(path):
    """Yields (kind, text) of the cells."""
    text = path.read_text().partition("\n# Prints")[0]
    tree = ast.parse(text)
    name = path.name
    yield "markdown", f"# {ast.get_docstring(tree)}\n\nMade of `examples/python/{name}` by `./dev notebooks`."
    lines = text.splitlines()
    begin = tree.body[0].end_lineno  # the docstring's
    blocks = re.split(r"\n\n+(?=\S)", "\n".join(lines[begin:]).strip("\n"))
    first = 0
    while all(isinstance(one, (ast.Import, ast.ImportFrom)) for one in ast.parse(blocks[first]).body):
        first += 1  # imports of other packages, then Linnet's
    imports = ["\n\n".join(blocks[:first])] if first else []
    for block in [*imports, *blocks[first:]]:
        last = ast.parse(block).body[-1]
        if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name) and last.targets[0].id in SHOWN:
            block += f"\n{last.targets[0].id}"
        yield "code", block.replace("  # type: ignore[import-untyped]", "")


def shortened(text, folder):
    """Without what differs between machines."""
    return re.sub(r" at 0x[0-9a-f]+", "", text.replace(str(folder) + "/", "").replace(str(folder), "."))


def execute(path):
    import nbformat
    from nbclient import NotebookClient
    book = nbformat.v4.new_notebook()
    book.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        given = INPUTS[path.stem](folder) if path.stem in INPUTS else None
        for number, (kind, text) in enumerate(cells_of(path)):
            make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
            cell = make(text)
            cell.id = f"cell-{number}"
            book.cells.append(cell)
        if given:
            book.cells.insert(1, nbformat.v4.new_code_cell(f"import sys\n\nsys.argv[1:] = ['{given}']"))
            book.cells[1].id = "cell-argument"
        NotebookClient(book, timeout=1800, resources={"metadata": {"path": str(folder)}}).execute()
        if given:
            book.cells[1].source = f"import sys\n\nsys.argv[1:] = ['{given.name}']"
        for cell in book.cells:
            cell.metadata = {}
            for output in cell.get("outputs", []):
                if "text" in output:
                    output.text = shortened(output.text, folder)
                output.get("metadata", {}).clear()
    nbformat.write(book, path.with_suffix(".ipynb"))
    print(path.with_suffix(".ipynb").relative_to(ROOT), path.with_suffix(".ipynb").stat().st_size, "bytes", flush=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in EXAMPLES.glob("*.py")):
        execute(EXAMPLES / f"{name}.py")
