# SPDX-License-Identifier: Apache-2.0
"""The generated pages of the manual's reference: the command's help, and the Python API from the package's stubs."""
import ast
import re
import subprocess
import textwrap

STUBS = ("__init__.py", "_linnet/__init__.pyi", "_linnet/datasets.pyi", "_linnet/zoo.pyi", "callbacks.py", "sklearn.py")


def help_of(command, *arguments):
    return subprocess.run([*command, *arguments, "--help"], capture_output=True, text=True, check=True).stdout.rstrip()


def version_of(command):
    """Returns "linnet 0.1.0": without the commit."""
    text = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    return text.partition(" (")[0].strip()


def commands_in(text):
    """The names of commands in a help page: lines of two blanks, a name, blanks and a sentence."""
    return re.findall(r"^  ([a-z][a-z-]*) {2,}[A-Z]", text, re.MULTILINE)


def help_pages(command):
    """Returns ("linnet data info", its help) of the whole and of each command, those of commands after theirs."""
    def of(words):
        page = help_of(command, *words)
        return [(" ".join(["linnet", *words]), page)] + [each for name in commands_in(page) for each in of([*words, name])]
    return of([])


def command_page(command):
    """Returns the page of the command's help, with a section for each command."""
    if command is None:
        return "# The command\n\nBuild it (`./dev build`), and `./dev docs` writes its help here.\n"
    (_, overview), *others = help_pages([command])
    parts = ["# The command\n\nWhat `linnet --help` and `linnet COMMAND --help` print.\n", f"```text\n{overview}\n```\n"]
    parts += [f"## {words}\n\n```text\n{page}\n```\n" for words, page in others]
    return "\n".join(parts)


def signature(node, owner=None):
    """The head of a class or function as Python writes it, without defaults' bodies."""
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}" + (f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else "")
    name = f"{owner}.{node.name}" if owner else node.name
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{name}({ast.unparse(node.args)}){returns}"


def described(node):
    """The docstring as indented text: a paragraph, or code where it has an example."""
    text = ast.get_docstring(node) or ""
    blocks = re.split(r"\n{2,}", text)
    return "\n\n".join(f"```text\n{textwrap.dedent(block)}\n```" if re.search(r"^ {2,}", block, re.MULTILINE)
                       else re.sub(r"([<*_])", r"\\\1", block) for block in blocks if block)


def is_public(node):
    return isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_") and not any(
        "overload" in ast.unparse(each) for each in node.decorator_list)


def members(node):
    """Rows of a table of a class's functions, properties and fields: a signature and a first sentence."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and (each.name == "__init__" or not each.name.startswith("_")):
            first = (ast.get_docstring(each) or "").partition("\n\n")[0].replace("\n", " ").replace("|", r"\|")
            is_property = any("property" in ast.unparse(one) for one in each.decorator_list)
            if any("setter" in ast.unparse(one) for one in each.decorator_list):
                continue
            text = f"{each.name}: {ast.unparse(each.returns)}" if is_property and each.returns else signature(each)
            yield f"| `{text.replace('|', chr(92) + '|')}` | {re.sub(r'([<*_])', chr(92) + chr(92) + '1', first)} |"


def python_page(package):
    """Returns the page of the Python API: every public class and function of the package's stubs."""
    if package is None:
        return ("# The Python API\n\n`./dev test --python` installs the package into `build/python-test`; then "
                "`./dev docs` writes its classes and functions here. `help(linnet.Conv2d)` shows the same.\n")
    parts = ["# The Python API\n\nClasses and functions of `import linnet as ln`, from the package's stubs. Layers, optimizers and "
             "schedules are those of [layers](../layers.md) and [optimizers](../optimizers.md).\n"]
    for stub in STUBS:
        for node in ast.parse((package / stub).read_text()).body:
            if not is_public(node):
                continue
            parts.append(f"## {node.name}\n\n```python\n{signature(node)}\n```\n\n{described(node)}\n")
            rows = list(members(node)) if isinstance(node, ast.ClassDef) else []
            if rows:
                parts.append("| member | |\n| --- | --- |\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def cpp_page(doxygen):
    """Returns the page that leads to Doxygen's."""
    if doxygen is None:
        return "# The headers\n\nWith Doxygen installed, `./dev docs` writes the pages of all headers here.\n"
    return ("# The headers\n\nEvery class, function and field of `include/linnet/`, by Doxygen: [classes](../cpp/annotated.html), "
            "[files](../cpp/files.html), [all names](../cpp/namespacemembers.html). [The C++ API](../api.md) gives an overview.\n")
