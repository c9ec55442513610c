# SPDX-License-Identifier: GPL-2.0-or-later
"""Every host there is to read, what to ask of each, and how two answers are told apart: for tests/torture/capture-again and
tests/documents. Works in the checkout's top folder."""
import difflib, itertools, json, os, random, runpy, shutil, subprocess, sys
from glob import glob

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "silent"))
import faults
from hostgen import lay, render
from hosts import HOSTS, build

SEED = 7
TREES = []  # see keep_tree
# What every host is asked.
COMMANDS = ("check", "topo-check", "topo-check --learn", "nic-map", "nic-map --gids", "nic-map --check-env", "nic-map --stacks",
            "nic-map --assignment", "qp-state", "qp-state --summary", "qp-state --by pid", "counters", "counters --fabric")
# Keys of a document that differ each time it is made: when that was. Of this host, time is that, too.
BY_NATURE = ("read_at",)
# Keys that differ where the same is read in another form: when and of what it was read, and how long that took.
BY_FORM = (*BY_NATURE, "time", "source", "seconds", "took_seconds", "elapsed_seconds")


def recorded():
    """(name, what makes it in a folder and returns its path) of hosts that were recorded."""
    for path in sorted(glob("tests/bundles/*.tar.*") + glob("../shared/data/sysfs/*.tar.*") + glob("../shared/data/hwloc/*.tar.*") +
                       glob("../shared/data/nccl-topo-xml/*.xml")):
        yield path, lambda folder, path=path: path


def made():
    """The same of the healthy hosts of tests/bundles/silent."""
    for host in HOSTS:
        yield host, lambda folder, host=host: laid(folder, host)


def faulty():
    """The same of those with accelerators, with each of the faults that can be planted."""
    for fault, host in itertools.product(faults.FAULTS, [host for host in HOSTS if build(host).gpus()]):
        yield f"{host}:{fault}", lambda folder, host=host, fault=fault: laid(folder, host, fault)


def cases():
    """The same of the hosts of tests/bundles/casebook.py."""
    casebook = runpy.run_path("tests/bundles/casebook.py", run_name="casebook")
    for row, what, _, _, files in casebook["CASES"]:
        yield f"casebook {row}: {what}", lambda folder, files=files: case(folder, casebook["put"], files)


def empty(folder):
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def laid(folder, host, fault=None, change=None):
    """A made-up host. Where nothing can break as `fault` says, it is healthy. change: a function of name and bytes of each file."""
    built = build(host)
    if fault:
        faults.plant(fault, built, random.Random(f"{host} {fault} {SEED}"))
    files = render(built)
    if change:
        files = {name: change(name, data) for name, data in files.items()}
    lay(empty(folder), files)
    return folder


def tree(folder):
    """The host that tests/bench/nic-map-tree makes up, with less of what a host is full of."""
    empty(folder)
    if TREES and os.path.isdir(TREES[0]):
        subprocess.run(["cp", "-a", TREES[0], folder], check=True)
    else:
        subprocess.run(["tests/bench/nic-map-tree", folder, "8", "12", "60"], check=True)
    return folder


def keep_tree(folder):
    """From now on such a host is a copy of the one that is made here."""
    TREES[:] = [tree(folder)]


def case(folder, put, files):
    tree(folder)
    put(folder, files)
    return folder


def parsed(text, aside=BY_NATURE):
    """The document that `text` is, without the keys of `aside`; a list of those in its lines; else its lines, less comments."""
    try:
        documents = [json.loads(text)]
    except ValueError:
        try:
            documents = [json.loads(line) for line in text.splitlines()]
        except ValueError:
            return [line for line in text.splitlines() if not line.startswith("#")]
    for document in documents:
        if isinstance(document, dict):
            for key in (*aside, *(["time"] if document.get("source") != "bundle" else [])):
                document.pop(key, None)
    return documents[0] if len(documents) == 1 else documents


NONE = "(not there)"


def differences(before, after, path=""):
    """(path, before, after) of each thing in which two documents differ. Members of lists are matched first, so that one more
    does not make all behind it differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            yield from differences(before.get(key, NONE), after.get(key, NONE), f"{path}.{key}")
    elif isinstance(before, list) and isinstance(after, list):
        yield from differences_of_lists(before, after, path)
    elif before != after or type(before) is not type(after):
        yield path, before, after


def differences_of_lists(before, after, path):
    # Long ones as they stand, if they can be: matching takes the square of the members that are alike.
    if len(before) == len(after) > 200:
        for k, (old, new) in enumerate(zip(before, after)):
            yield from differences(old, new, f"{path}[{k}]")
        return
    texts = [[json.dumps(member, sort_keys=True) for member in members] for members in (before, after)]
    for what, a, a_end, b, b_end in difflib.SequenceMatcher(None, *texts, autojunk=len(after) > 1000).get_opcodes():
        if what == "equal":
            continue
        for k in range(max(a_end - a, b_end - b)):
            old = before[a + k] if a + k < a_end else NONE
            new = after[b + k] if b + k < b_end else NONE
            yield from differences(old, new, f"{path}[{b + k if old is NONE else a + k}]")
