#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Healthy hosts that nobody here has, and faults planted in them: what rdmadiag says of each.

  silent.py RDMADIAG WORK-FOLDER [HOST...]               healthy hosts must be called healthy; speaks TAP
  silent.py --faults RDMADIAG WORK-FOLDER [N SEED]       plants N faults chosen by SEED, or all: cells must be those of MATRIX.md; TAP
  silent.py --matrix RDMADIAG WORK-FOLDER                all faults in all hosts: MATRIX.md on standard output (minutes)
  silent.py --hosts                                      HOSTS.md on standard output
  silent.py --lay HOST[:FAULT[:SEED]] FOLDER             lays one host out, to look at it by hand: files only
  silent.py --bundle HOST[:FAULT[:SEED]] FOLDER          the same as a bundle, with netlink replies, as the modes above use it

WORK-FOLDER is made, and removed at the end."""
import json, os, random, re, shutil, subprocess, sys, time

sys.dont_write_bytecode = True

import faults
from hostgen import change, lay, render
from hosts import HOSTS, build
from netlink import bundle

ALARM = ("warning", "critical")
SEED = 1  # chooses which device a fault meets


def ask(rdmadiag, root, *args):
    """(document, exit status, what was said besides)."""
    out = subprocess.run([rdmadiag, "--from", root, *args], capture_output=True, text=True, check=False)
    try:
        return json.loads(out.stdout), out.returncode, out.stderr
    except ValueError:
        return None, out.returncode, out.stdout + out.stderr


def alarms(document):
    """Those of the findings that tell an operator that something is wrong, in the order in which they are told."""
    return [f for f in (document or {}).get("findings", []) if f["severity"] in ALARM]


def line(finding):
    return f"{finding['severity']} {finding['id']}: {finding['subject']}: {finding['observed'] or finding['title']}"


def briefly(command, found):
    """One line for each rule: of how many it speaks, and what of the first."""
    by_rule = {}
    for finding in found:
        by_rule.setdefault((finding["severity"], finding["id"]), []).append(finding)
    return [f"{command}: {line(of[0])}" + (f" (and {len(of) - 1} more)" if len(of) > 1 else "") for of in by_rule.values()]


def allowed(host, finding):
    return any(finding["id"] == rule and subject in ("", finding["subject"]) for rule, subject, _ in HOSTS[host].allowed)


def hcas(rdmadiag, root):
    """Devices in the NCCL_IB_HCA that nic-map gives, exit status, what went wrong."""
    out = subprocess.run([rdmadiag, "--from", root, "nic-map", "--env", "nccl"], capture_output=True, text=True, check=False)
    bad = out.returncode not in (0, 3) or (out.returncode == 3 and out.stdout)
    match = re.search(r"NCCL_IB_HCA='=?([^']*)'", out.stdout)
    return {name.split(":")[0] for name in match[1].split(",")} if match else set(), f"exit {out.returncode}: {out.stderr.strip()[:200]}" if bad else ""


def usable(host):
    """RDMA devices that NCCL may be given: compute ports that are up. Not EFA, which has a plugin, nor Gaudi's own ports."""
    return {f.rdma[0].name for f in host.nics("compute") if not f.gpu and f.rdma[0].ports[0].layer != "Unknown"
            and f.rdma[0].ports[0].state == "ACTIVE"}


def wrong_roles(rdmadiag, root, host):
    """A port that does other work must not be called compute, and NCCL gets the compute ports, all of them, or an answer of 3.
    Without a GPU it is a matter of taste which port computes; no port that is down does."""
    made = build(host)
    compute = {r.name for f in made.nics("compute") for r in f.rdma}
    down = {r.name for f in made.nics() for r in f.rdma if all(p.state != "ACTIVE" for p in r.ports)}
    document, _, _ = ask(rdmadiag, root, "nic-map", "--json")
    called = [n["ibdev"] for n in (document or {}).get("nics", []) if n["role"] == "compute"]
    bad = [dev for dev in called if dev in down or (made.gpus() and dev not in compute)]
    wrong = [f"nic-map: role compute: {', '.join(bad)}"] if bad else []
    given, said = hcas(rdmadiag, root)
    wrong += [f"nic-map --env nccl: {said}"] if said else []
    if given & down or (made.gpus() and given and given != usable(made)):
        odd = sorted(given - usable(made) if made.gpus() else given & down)
        wrong.append(f"nic-map --env nccl: NCCL_IB_HCA has {', '.join(odd[:8]) or 'too few'}{' ...' if len(odd) > 8 else ''}")
    return wrong


def healthy(rdmadiag, root, host):
    """What is said of a healthy host that should not be."""
    wrong = wrong_roles(rdmadiag, root, host)
    for command in (("check",), ("topo-check",), ("nic-map",)):
        document, status, said = ask(rdmadiag, root, *command, "--json")
        found = [f for f in alarms(document) if not allowed(host, f)]
        wrong += briefly(command[0], found)
        if document is None or (status and not found and not alarms(document)):
            wrong.append(f"{command[0]}: exit {status}: {said.strip()[:200]}")
    return wrong


def silent(rdmadiag, work, names):
    print(f"1..{len(names)}")
    bad = 0
    for n, host in enumerate(names, 1):
        root = os.path.join(work, host)
        lay(root, bundle(build(host)))
        wrong = healthy(rdmadiag, root, host)
        shutil.rmtree(root)
        bad += bool(wrong)
        print(f"{'not ' if wrong else ''}ok {n} - {host}: {HOSTS[host].title}")
        for text in wrong:
            print(f"# {text}")
    return bad > 0


def names_it(fault, finding):
    """The finding is about an object of the fault: in its subject, or in the list that it gives."""
    text = f"{finding['subject']} {finding['observed']}"
    return any(re.search(rf"(?<![\w.:]){re.escape(o)}(?![\w]|\.\d|:\d\d\.)", text) for o in fault.objects if o)


def says_it(fault, finding):
    text = " ".join(str(finding.get(k) or "") for k in ("title", "observed", "expected"))
    return re.search(fault.words, text, re.I) is not None


def judge(rdmadiag, root, fault, before):
    """first, named, notok, wrong, miss: see MATRIX.md. And the first thing that is said."""
    new = []
    for command in ("check", "topo-check"):
        document, status, _ = ask(rdmadiag, root, command, "--json")
        new.append([f for f in alarms(document) if line(f) not in before])
        if command == "check" and not (new[0] and status in (1, 2)):
            return "miss", ""
    hit = [names_it(fault, f) and says_it(fault, f) for f in new[0]]
    if hit[0]:
        return "first", line(new[0][0])
    if any(hit) or any(names_it(fault, f) and says_it(fault, f) for f in new[1]):
        return "named", line(new[0][0])
    return ("notok" if names_it(fault, new[0][0]) else "wrong"), line(new[0][0])


def verdict(rdmadiag, root, host, fault, before):
    """The same, and a star where NCCL would be given ports that do other work or are down."""
    cell, said = judge(rdmadiag, root, fault, before)
    given, _ = hcas(rdmadiag, root)
    bad = sorted(given - usable(host))
    return cell + ("*" if bad else ""), said + (f"; NCCL_IB_HCA has {', '.join(bad[:4])}{' ...' if len(bad) > 4 else ''}" if bad else "")


def plant(rdmadiag, work, host, wanted, seed):
    """Yields (fault's name, Fault or None, cell, first finding). None: this host has nothing that can break so."""
    root = os.path.join(work, host)
    files = bundle(build(host))
    lay(root, files)
    before = {line(f) for command in ("check", "topo-check") for f in alarms(ask(rdmadiag, root, command, "--json")[0])}
    for name in wanted:
        broken = build(host)
        fault = faults.plant(name, broken, random.Random(f"{host} {name} {seed}"))
        if not fault:
            yield name, None, "", ""
            continue
        new = bundle(broken)
        change(root, files, new)
        yield name, fault, *verdict(rdmadiag, root, broken, fault, before)
        change(root, new, files)
    shutil.rmtree(root)


def with_gpus():
    return [name for name in HOSTS if build(name).gpus()]


def recorded():
    """(host, fault) to cell, as MATRIX.md has it."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "MATRIX.md"), encoding="utf-8") as f:
        rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in f if row.startswith("|")]
    head = next(row for row in rows if row[0] == "host" and row[1] in faults.FAULTS)
    return {(row[0], name): cell for row in rows if row[0] in HOSTS and len(row) == len(head) for name, cell in zip(head[1:], row[1:])}


def sample(rdmadiag, work, count, seed):
    """A part of the matrix, chosen by seed, must come out as it is recorded."""
    cells = {pair: cell for pair, cell in recorded().items() if cell != "-"}
    pairs = random.Random(seed).sample(sorted(cells), min(count or len(cells), len(cells)))
    print(f"1..{len(pairs)}")
    bad = n = 0
    for host in dict.fromkeys(h for h, _ in sorted(pairs)):
        for name, fault, cell, said in plant(rdmadiag, work, host, [f for h, f in sorted(pairs) if h == host], SEED):
            n += 1
            good = cell == cells[host, name]
            bad += not good
            print(f"{'' if good else 'not '}ok {n} - {host}: {name}: {cell}")
            if not good:
                print(f"# {cells[host, name]} in MATRIX.md; {fault and fault.what}; first said: {said or 'nothing'}")
    return bad > 0


def matrix(rdmadiag, work):
    started, rows, other, tally = time.time(), [], [], {}
    for host in with_gpus():
        cells = []
        for name, fault, cell, said in plant(rdmadiag, work, host, faults.FAULTS, SEED):
            cells.append(cell or "-")
            if cell:
                kind, star = cell.rstrip("*"), cell.endswith("*")
                tally[kind] = tally.get(kind, 0) + 1
                tally["*"] = tally.get("*", 0) + star
            if cell not in ("", "first"):
                other.append(f"| {host} | {name} | {cell} | {fault.what} | {said.replace('|', '/')} |")
        rows.append(f"| {host} | " + " | ".join(cells) + " |")
    stars = tally.pop("*")
    total = sum(tally.values())
    print(f"""# Faults planted in healthy hosts, and what names them

Written by `tests/bundles/silent/silent.py --matrix build/rdmadiag FOLDER`, without a profile; the hosts are those of HOSTS.md.
first: the first thing that `check` says names the object and the fault. named: it is named later, or by `topo-check`. notok:
`check` is not OK and speaks of the object, but not of the fault. wrong: it blames something else first. miss: it says OK.
-: the host has nothing that can break so, or it leaves no trace there. What a healthy host is told anyway does not count.
*: `nic-map --env nccl` names a port that is down or does other work.

{total} faults: """ + ", ".join(f"{k} {tally.get(k, 0)} ({100 * tally.get(k, 0) / total:.0f} %)" for k in ("first", "named", "notok", "wrong", "miss")) + f""". With a star: {stars}.

| host | {' | '.join(faults.FAULTS)} |
| --- |{' --- |' * len(faults.FAULTS)}
""" + "\n".join(rows) + """

What is planted:
""" + "\n".join(f"- {name}: {make.__doc__}" for name, make in faults.FAULTS.items()) + """

Not named first:

| host | fault | cell | planted | what is said first |
| --- | --- | --- | --- | --- |
""" + "\n".join(other))
    print(f"{total} faults in {time.time() - started:.0f} s", file=sys.stderr)


def table():
    print("""# Healthy hosts made from public descriptions

Written by `tests/bundles/silent/silent.py --hosts`; `tests/bats/silent.bats` lays each out and wants `check`, `topo-check` and
`nic-map` to say nothing that its owner would call wrong. GID tables are shortened. Netlink replies (`netlink.py`) are filled in
everywhere: of Linux 6.8, and of each driver what it implements; PFC, DSCP and no pause frames on RoCE ports for compute and
storage, elsewhere what the driver sets up by itself; with irdma pause frames; one neighbour in each network.

| host | what | source | filled in | accepted |
| --- | --- | --- | --- | --- |""")
    for name, make in HOSTS.items():
        accepted = "; ".join(f"{rule} {subject}: {reason}" for rule, subject, reason in make.allowed) or "nothing"
        print(f"| {name} | {make.title} | {make.source} | {make.filled} | {accepted} |".replace("\n", " "))


def lay_one(what, folder, made_of):
    host, _, rest = what.partition(":")
    name, _, seed = rest.partition(":")
    made = build(host)
    if name:
        print(faults.plant(name, made, random.Random(f"{host} {name} {seed or SEED}")).what)
    lay(folder, made_of(made))


def main(args):
    if args[:1] == ["--hosts"]:
        return table()
    if args[:1] in (["--lay"], ["--bundle"]):
        return lay_one(*args[1:3], render if args[0] == "--lay" else bundle)
    mode = args.pop(0) if args[:1] in (["--faults"], ["--matrix"]) else ""
    if len(args) < 2:
        sys.exit(__doc__)
    rdmadiag, work = args[:2]
    rdmadiag = os.path.abspath(rdmadiag)
    os.makedirs(work, exist_ok=True)
    if mode == "--faults":
        return sample(rdmadiag, work, *(int(n) for n in (args[2:4] or (0, 1))))
    if mode == "--matrix":
        return matrix(rdmadiag, work)
    return silent(rdmadiag, work, args[2:] or list(HOSTS))


sys.exit(main(sys.argv[1:]))
