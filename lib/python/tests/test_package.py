# SPDX-License-Identifier: Apache-2.0
"""The package: examples of docstrings, stubs, what lies beside the extension."""
import ast
import ctypes
import doctest
import inspect
import pathlib
import shutil
import subprocess

import numpy as np
import pytest
import vscan

PUBLIC = [getattr(vscan, name) for name in vscan.__all__]


def docs(thing, name):
    yield name, thing.__doc__
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        for member in vars(thing):
            if not member.startswith("_"):
                yield f"{name}.{member}", getattr(thing, member).__doc__


def all_docs():
    yield "vscan", vscan.__doc__
    for name in vscan.__all__:
        yield from docs(getattr(vscan, name), name)


@pytest.mark.parametrize("name, text", list(all_docs()))
def test_examples(name, text):
    assert text, f"{name} has no docstring"
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    results = doctest.DocTestRunner().run(test)
    assert results.failed == 0
    function = getattr(vscan, name, None)
    if inspect.isbuiltin(function) and name != "synchronize":
        assert results.attempted > 0, f"{name} has no example"


def test_stubs():
    """Every public name has a stub, with the parameters of its docstring, and there are no others."""
    tree = ast.parse((pathlib.Path(vscan.__file__).parent / "__init__.pyi").read_text())
    stubs = {node.name: node for node in tree.body if hasattr(node, "name")}
    assert set(stubs) == set(vscan.__all__)
    functions = [(name, node, getattr(vscan, name)) for name, node in stubs.items()]
    for kind in (vscan.Context, vscan.Buffer, vscan.Carry):
        functions += [(node.name, node, getattr(kind, node.name))
                      for node in stubs[kind.__name__].body if hasattr(node, "name")]
    for name, node, function in functions:
        if isinstance(node, ast.FunctionDef) and (not name.startswith("_")):
            parameters = [a.arg for a in node.args.args + node.args.kwonlyargs]
            assert parameters == list(inspect.signature(function).parameters), name


def test_files():
    folder = pathlib.Path(vscan.__file__).parent
    assert (folder / "py.typed").exists()
    assert (pathlib.Path(vscan.get_include()) / "vscan.h").exists()
    library = ctypes.CDLL(vscan.get_library())
    library.vscan_version_text.restype = ctypes.c_char_p
    assert library.vscan_version_text().decode() == vscan.__version__


@pytest.mark.skipif(not (shutil.which("cc") and shutil.which("pkg-config")),
                    reason="no C compiler or no pkg-config")
def test_c_program(tmp_path):
    """A program in C is built against the package."""
    (tmp_path / "a.c").write_text('#include <vscan.h>\n#include <stdio.h>\n'
                                  'int main(void) { puts(vscan_version_text()); return 0; }\n')
    folder = str(pathlib.Path(vscan.__file__).parent / "pkgconfig")
    flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "libvscan"], text=True,
                                    env={"PKG_CONFIG_PATH": folder, "PATH": "/usr/bin:/bin"})
    subprocess.check_call(["cc", "a.c", "-o", "a"] + flags.split(), cwd=tmp_path)
    assert subprocess.check_output(["./a"], cwd=tmp_path, text=True).strip() == vscan.__version__


def test_one_library():
    """Bits of the extension are those of the library that get_library names."""
    x = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
    out = np.empty_like(x)
    library = ctypes.CDLL(vscan.get_library())
    assert library.vscan_host_scan(31, 12, 0, 0, ctypes.c_void_p(x.ctypes.data),
                                   ctypes.c_int64(1000), ctypes.c_void_p(out.ctypes.data)) == 0
    assert out.tobytes() == vscan.scan(x).tobytes()
