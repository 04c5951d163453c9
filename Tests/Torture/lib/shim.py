"""Compiles the C shims between the daemon and the C library on first use."""
import os
import shutil
import subprocess

from .programs import ROOT, TORTURE, Failed


def build(name, *libraries):
    """Returns the path of the shared object built from `Tests/Torture/shims/NAME.c`."""
    source = TORTURE / "shims" / f"{name}.c"
    target = ROOT / ".build" / "torture" / f"{name}.so"
    if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
        return str(target)
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        raise Failed("no C compiler found; install gcc or clang")
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_suffix(f".{os.getpid()}")
    subprocess.run([compiler, "-O1", "-g", "-Wall", "-Werror", "-shared", "-fPIC", "-o", fresh, source, "-ldl",
                    *libraries], check=True)
    os.replace(fresh, target)
    return str(target)
