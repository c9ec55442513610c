#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts in order that could trip a rule, beside hosts that are broken in the same place, by kind of mistake:

  twins.py RDMADIAG WORK-FOLDER [KIND...]    each must be called what it is; speaks TAP
  twins.py --table                           KINDS.md on standard output
  twins.py --lay NUMBER FOLDER               lays one out as a bundle, to look at it by hand
  twins.py --said RDMADIAG NUMBER FOLDER     the same, and what is said of it

The rows are in twinlist.py, what they are made of in twinrows.py. WORK-FOLDER is made, and removed at the end."""
import json, os, re, shutil, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True

import netlink
from hostgen import change, lay
from hosts import build
from twinlist import ROWS
from twinrows import FOLDERS, Row

ALARM = ("warning", "critical")


class Made:
    """A host that steps change: its model (host), files (path below root to text, bytes, Link or None), reads that fail (path to
    errno), replies of netlink (by interface), numbers of device files, and the lines of an environment."""

    def __init__(self, base):
        self.host, self.files, self.fails, self.devs, self.env = build(base), {}, {}, {}, ""
        self.lossless, self.pauses, self.neighbours, self.protocol, self.refused = {}, {}, {}, {}, []
        self.hidden = {}  # folder to names that fail there
        self.empty = []  # folders without anything in them

    def fn(self, dev):
        """Function of an RDMA device, of a GPU ("GPU3") or at an address."""
        if dev.startswith("GPU"):
            return sorted(self.host.gpus(), key=lambda g: g.addr)[int(dev[3:])]
        return next(f for f in self.host.fns if dev == f.addr or any(r.name == dev for r in f.rdma))

    def pci(self, dev):
        return f"sys/devices/{self.fn(dev).path()}"

    def ib(self, dev):
        return f"{self.pci(dev)}/infiniband/{dev}"

    def net(self, name):
        """Folder of an interface."""
        fn = next((f for f in self.host.fns if any(n.name == name for n in f.nets)), None)
        return f"sys/devices/{fn.path()}/net/{name}" if fn else f"sys/devices/virtual/net/{name}"

    def bundle(self):
        """Files of the bundle, with what the steps have changed."""
        netlink.replies_of, plain = (lambda host: self.replies(plain(host))), netlink.replies_of
        kept = netlink.dcb_of, netlink.pauses, netlink.neighbours_of
        netlink.dcb_of, netlink.pauses, netlink.neighbours_of = (self.wrap(f) for f in (self.dcb, self.pause, self.near))
        self.plain = kept
        try:
            return self.patched(netlink.bundle(self.host))
        finally:
            netlink.replies_of = plain
            netlink.dcb_of, netlink.pauses, netlink.neighbours_of = kept

    def wrap(self, what):
        return lambda nic: what(nic)

    def nic(self, nic):
        if nic.net.name in self.lossless:
            nic.lossless = self.lossless[nic.net.name]
        return nic

    def dcb(self, nic):
        return self.plain[0](self.nic(nic))

    def pause(self, nic):
        return self.pauses.get(nic.net.name, self.plain[1](self.nic(nic)))

    def near(self, nic):
        """The neighbours that a step gives come in place of the host's, if there are any."""
        if nic.net.name not in self.neighbours:
            return self.plain[2](nic)
        return (netlink.neighbour(nic.net.index, ip, b"\6" * 6 if state != 0x20 else b"", state) for ip, state in self.neighbours[nic.net.name])

    def replies(self, of):
        for key in list(of):
            for protocol, kind, errno in self.refused:
                if key[0] == protocol and (kind is None or int.from_bytes(key[1][4:6], "little") == kind):
                    of[key] = errno
            if key[0] == "rdma" and self.protocol and isinstance(of[key], bytes):
                of[key] = b"".join(self.renamed(m) for m in messages(of[key]))
        return of

    def renamed(self, message):
        """nldev's protocol of a device, where a step gives another."""
        for dev, protocol in self.protocol.items():
            old = netlink.text(67, "roce")
            if netlink.text(2, dev) in message and old in message:
                body = message[16:].replace(old, netlink.text(67, protocol))
                message = (16 + len(body)).to_bytes(4, "little") + message[4:16] + body
        return message

    def patched(self, files):
        manifest = json.loads(files["manifest.json"])
        requests = manifest["samples"][0]["requests"]
        for path, data in self.files.items():
            if data is None:
                for name in [n for n in files if n == f"root/{path}" or n.startswith(f"root/{path}/")]:
                    del files[name]
            else:
                files[f"root/{path}"] = data
        hidden = self.hidden
        for path, errno in self.fails.items():
            for name in [n for n in files if n == f"root/{path}" or n.startswith(f"root/{path}/")]:
                del files[name]
            hidden.setdefault(os.path.dirname(path), []).append(os.path.basename(path))
        requests = [r for r in requests if r["ask"] != "list"]
        folders = {""}
        for name in [*files, *(f"root/{p}" for p in self.fails)]:
            while name.startswith("root/") and (name := os.path.dirname(name)) not in folders and name != "root":
                folders.add(name)
        for name in sorted(folders):
            path = name[len("root/"):]
            entry = {"ask": "list", "path": f"/{path}"}
            if path in hidden:
                own = {n[len(name) + 1:].split("/")[0] for n in files if n.startswith(f"{name}/")}
                entry["names"] = sorted(own | set(hidden[path]))
            requests.append(entry)
        requests += [{"ask": "list" if path in FOLDERS else "read", "path": f"/{path}", "errno": errno} for path, errno in self.fails.items()]
        requests += [{"ask": "list", "path": f"/{path}", "names": []} for path in self.empty]
        for path, (number, mode) in self.devs.items():
            requests += [{"ask": "rdev", "path": f"/{path}", "value": number}, {"ask": "mode", "path": f"/{path}", "value": mode}]
        manifest["samples"][0]["requests"] = requests
        files["manifest.json"] = json.dumps(manifest)
        return files


def messages(reply):
    while reply:
        size = int.from_bytes(reply[:4], "little")
        yield reply[:size]
        reply = reply[-(-size // 4) * 4:]


def folders(root, made):
    """Those whose files all fail are listed nevertheless."""
    for folder in [*made.hidden, *made.empty]:
        os.makedirs(os.path.join(root, "root", folder), exist_ok=True)


def make(row):
    made = Made(row.base)
    for step in row.steps:
        step(made)
    return made


def ask(rdmadiag, root, *args):
    out = subprocess.run([rdmadiag, "--from", root, *args], capture_output=True, text=True, check=False)
    if "--json" not in args:
        return out.stdout, out.returncode
    try:
        return json.loads(out.stdout), out.returncode
    except ValueError:
        return {"findings": [], "checks": [], "said": out.stdout + out.stderr}, out.returncode


def told(finding):
    return f"{finding['severity']} {finding['id']}: {finding['subject']}: {finding['observed'] or finding['title']}"


def commands(row, root):
    if row.env is not None:
        return [("nic-map", "--check-env", "--env-file", root + ".env", "--json")]
    if row.command:
        return [row.command.split()]
    return [("check", "--json"), ("topo-check", "--json")] + ([("nic-map", "--json")] if row.map else [])


def said(rdmadiag, pool, row, root):
    """(Command, document or text, exit status) of each."""
    asked = commands(row, root)
    return [(a[0], *answer) for a, answer in zip(asked, pool.map(lambda a: ask(rdmadiag, root, *a), asked))]


def quiet(ids, answers, before):
    """No alarm that the untouched host has not, whatever the rule; those of the row not even then."""
    for command, document, status in answers:
        for finding in document["findings"]:
            if finding["severity"] in ALARM and (told(finding) not in before or finding["id"] in ids):
                yield f"{command}: {told(finding)}"
        if "said" in document or (status in (1, 2) and not any(f["severity"] in ALARM for f in document["findings"])):
            yield f"{command}: exit {status}: {document.get('said', '')[:200]}"


def unknown(ids, answers):
    for rule in ids:
        found = [c for command, document, _ in answers for c in document.get("checks") or [] if c["id"] == rule]
        if not any(c["result"] == "unknown" for c in found):
            yield f"{rule} is not unknown, but {', '.join(sorted({c['result'] for c in found})) or 'not there'}"


def named(wanted, words, answers, before):
    """Where a rule of `check` finds it, nothing else is told first."""
    hit = False
    for command, document, status in answers:
        new = [f for f in document["findings"] if told(f) not in before and f["severity"] in (*ALARM, "note")]
        mine = [f for f in new if f"{f['severity']} {f['id']}" == wanted and re.search(words, f"{f['subject']}: {f['observed']}", re.I)]
        hit |= bool(mine)
        if mine and wanted.split()[0] in ALARM:
            first = [f for f in new if f["severity"] in ALARM][0]
            if f"{first['severity']} {first['id']}" != wanted and command != "nic-map":
                yield f"{command}: first {told(first)}"
            if command != "nic-map" and status not in (1, 2):
                yield f"{command}: exit {status}"
    if not hit:
        yield f"no {wanted}" + (f" of {words}" if words else "") + ": " + ("; ".join(f"{c}: {told(f)}" for c, d, _ in answers for f in d["findings"] if told(f) not in before)[:600] or "nothing new")


def untypable(rdmadiag, root, answers):
    """Commands of this program that findings say to type, and that then say that they cannot tell."""
    for line in sorted({line for _, document, _ in answers for f in document["findings"] for line in (f["fix"] or "").splitlines() if line.startswith("rdmadiag nic-map")}):
        text, status = ask(rdmadiag, root, *line.split()[1:])
        if status == 3:
            yield f"{line}: exit {status}: {text.strip()[:200]}"


def judge(rdmadiag, root, row, answers, before):
    """What is wrong of what was said."""
    how, _, rest = row.expected.partition(" ")
    if how in ("text", "no-text"):
        found = [m[0] for _, text, _ in answers for m in re.finditer(rest, text, re.I | re.M)]
        return [f"{how} {rest}: {found[:1]}"] if bool(found) != (how == "text") else []
    if how == "fixes":
        return list(untypable(rdmadiag, root, answers))
    if how == "quiet":
        return list(quiet(rest.split(), answers, before))
    if how == "unknown":
        return list(quiet(rest.split(), answers, before)) + list(unknown(rest.split(), answers))
    return list(named(row.expected, row.words, answers, before))


def run(rdmadiag, work, rows):
    print(f"1..{len(rows)}")
    bad, bases, pool = 0, {}, ThreadPoolExecutor(2)
    for n, row in enumerate(rows, 1):
        root = os.path.join(work, row.base)
        if row.base not in bases:
            files = Made(row.base).bundle()
            lay(root, files)
            answers = said(rdmadiag, pool, Row("", "", row.base, [], "quiet", map=True), root)
            bases[row.base] = files, {told(f) for _, document, _ in answers for f in document["findings"]}
        files, before = bases[row.base]
        made = make(row)
        new = made.bundle()
        change(root, files, new)
        folders(root, made)
        if row.env is not None:
            with open(root + ".env", "w", encoding="utf-8") as f:
                f.write("\n".join(row.env.split()) + "\n")
        wrong = judge(rdmadiag, root, row, said(rdmadiag, pool, row, root), before)
        change(root, new, files)
        bad += bool(wrong)
        print(f"{'not ' if wrong else ''}ok {n} - {row.kind}: {row.base}: {row.what}: {row.expected}", flush=True)
        for text in wrong:
            print(f"# {text}")
    shutil.rmtree(work)
    return bad > 0


def show(rdmadiag, row, root):
    made = make(row)
    lay(root, made.bundle())
    folders(root, made)
    if row.env is not None:
        with open(root + ".env", "w", encoding="utf-8") as f:
            f.write("\n".join(row.env.split()) + "\n")
    print(f"{row.kind}: {row.base}: {row.what}: {row.expected}")
    for args in commands(row, root) if rdmadiag else []:
        document, status = ask(rdmadiag, root, *args)
        print(f"$ rdmadiag --from {root} {' '.join(args)}: exit {status}")
        for finding in document["findings"] if isinstance(document, dict) else []:
            print(f"  {told(finding)}")
        if isinstance(document, str):
            print(document)


def rules_of(row):
    how, _, rest = row.expected.partition(" ")
    return [] if how in ("text", "no-text") else rest.split()


def table():
    print("""# Hosts in order that could trip a rule, and broken ones beside them

Written by `tests/bundles/silent/twins.py --table`; `tests/bats/silent.bats` makes them all of the hosts of HOSTS.md and wants to be
told of the broken ones what is wrong, and of the others nothing that is not so: what cannot be read is unknown.

| kind | rules | healthy hosts that could trip it | broken hosts |
| --- | --- | --- | --- |""")
    for kind in dict.fromkeys(row.kind for row in ROWS):
        rows = [row for row in ROWS if row.kind == kind]
        cells = []
        for broken in (False, True):
            mine = [row for row in rows if row.broken() == broken]
            cells.append(f"{len(mine)}: " + "; ".join(f"{row.base} ({row.what})" for row in mine))
        rules = ", ".join(sorted({rule for row in rows for rule in rules_of(row)})) or "nic-map"
        print(f"| {kind} | {rules} | {' | '.join(cells)} |")


def main(args):
    if args[:1] == ["--table"]:
        return table()
    if args[:1] == ["--lay"]:
        return show(None, ROWS[int(args[1]) - 1], args[2])
    if args[:1] == ["--said"]:
        return show(os.path.abspath(args[1]), ROWS[int(args[2]) - 1], args[3])
    if len(args) < 2:
        sys.exit(__doc__)
    os.makedirs(args[1], exist_ok=True)
    rows = [row for row in ROWS if not args[2:] or any(row.kind.startswith(kind) for kind in args[2:])]
    return run(os.path.abspath(args[0]), args[1], rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
