# SPDX-License-Identifier: Apache-2.0
"""Peers in Julia, which run in a project that the user has made and names: --flux DIR."""
import shutil
from pathlib import Path


def command(project, threads):
    """What a peer's program stands after."""
    return ["julia", "--startup-file=no", f"--project={project}", f"--threads={threads}"]


def missing(project):
    """Why it cannot be started, or None."""
    if project is None:
        return "--flux does not say where its Julia project is"
    if not Path(project, "Project.toml").exists():
        return f"{project} is not a Julia project: it has no Project.toml"
    return None if shutil.which("julia") else "there is no julia on the PATH"
