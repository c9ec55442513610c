#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds nic-map --check-env against settings of public threads (threads.py), and each rule against a case of its own (rules.py):
env.py RDMADIAG WORK-FOLDER [threads|rules|published]; speaks TAP. published.py: settings of providers, on hosts of ../silent. env.py --table: the table of both, tests/rules/ENV.md. All hosts are made up."""
import json, os, shlex, shutil, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import published, rules, threads

HERE = os.path.dirname(os.path.abspath(__file__))
ZERO = ":".join(["0000"] * 8)


def put(root, path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text + "\n")


def gids(root, n, table):
    """The GIDs of NIC n: by index, address and type; the rest is empty."""
    at = f"sys/class/infiniband/mlx5_{n}/ports/1/"
    for i in range(16):
        gid, kind = table.get(i, (ZERO, None))
        put(root, f"{at}gids/{i}", gid)
        for what, text in (("types", kind), ("ndevs", f"eth{n}")):
            path = os.path.join(root, at, "gid_attrs", what, str(i))
            if kind:
                put(root, f"{at}gid_attrs/{what}/{i}", text)
            elif os.path.exists(path):
                os.remove(path)


def roce(root, first=0):
    """Compute NICs are RoCE: mlx5_N has ethN, 10.0.N.1, and four GIDs from `first` on."""
    for n in range(8):
        put(root, f"sys/class/infiniband/mlx5_{n}/ports/1/link_layer", "Ethernet")
        link = os.path.join(root, f"sys/class/net/ib{n}")
        real = os.path.realpath(link)
        os.rename(real, os.path.join(os.path.dirname(real), f"eth{n}"))
        os.remove(link)
        os.symlink(os.path.relpath(os.path.join(os.path.dirname(real), f"eth{n}"), os.path.dirname(link)), os.path.join(os.path.dirname(link), f"eth{n}"))
        put(root, f"sys/class/net/eth{n}/type", "1")
        local, mapped = f"fe80:0000:0000:0000:a088:c2ff:fe00:{n:04x}", f"0000:0000:0000:0000:0000:ffff:0a00:{n:02x}01"
        gids(root, n, {first: (local, "IB/RoCE v1"), first + 1: (local, "RoCE v2"), first + 2: (mapped, "IB/RoCE v1"), first + 3: (mapped, "RoCE v2")})


def efa(root):
    for dev in os.listdir(os.path.join(root, "sys/class/infiniband")):
        put(root, f"sys/class/infiniband/{dev}/ports/1/link_layer", "Unknown")
        driver = os.path.join(os.path.realpath(os.path.join(root, "sys/class/infiniband", dev, "device")), "driver")
        if os.path.lexists(driver):
            os.remove(driver)
        os.symlink("../../../../bus/pci/drivers/efa", driver)


def ib_only(root):
    """The storage NICs are down."""
    for n in range(8, 12):
        put(root, f"sys/class/infiniband/mlx5_{n}/ports/1/state", "1: DOWN")


HOSTS = {"ib": lambda root: None, "roce": roce, "roce-pod": lambda root: roce(root, 4), "efa": efa, "ib-only": ib_only}


def lay(folder, name):
    subprocess.run([sys.executable, os.path.join(HERE, "../silent/silent.py"), "--bundle", name, os.path.join(folder, name)], check=True, stdout=subprocess.DEVNULL)


def make_hosts(folder):
    subprocess.run([os.path.join(HERE, "../../bench/nic-map-tree"), os.path.join(folder, "ib")], check=True)
    for name, change in HOSTS.items():
        if name != "ib":
            shutil.copytree(os.path.join(folder, "ib"), os.path.join(folder, name), symlinks=True)
            change(os.path.join(folder, name))


def judge(binary, folder, host, settings):
    path = os.path.join(folder, "env")
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(word + "\n" for word in shlex.split(settings)))
    out = subprocess.run([binary, "--from", os.path.join(folder, host), "nic-map", "--check-env", "--env-file", path, "--json"],
                         capture_output=True, text=True, check=False)
    return json.loads(out.stdout)


def faults(document, settings, ids, effects, severity_free):
    """What is not as it should be: a finding too many or missing, an effect that says something else, a variable in silence, a command that is
    advice."""
    found = {f["id"] if severity_free else f"{f['severity']} {f['id']}" for f in document["findings"]}
    rows = {v["name"]: v for v in document["variables"]}
    bad = [f"found {i}" for i in found - ids] + [f"did not find {i}" for i in ids - found]
    # Variables are set where the job is started: advice. Only nic-map --env is a command.
    bad += [f'{f["id"]}: command {f["fix"]}' for f in document["findings"] if not (f["fix"] or "rdmadiag nic-map --env ").startswith("rdmadiag nic-map --env ")]
    for name in [word.split("=", 1)[0] for word in shlex.split(settings)]:
        if name not in rows:
            bad.append(f"{name} is not there")
        elif rows[name]["judged"] == "yes" and not rows[name]["effect"]:
            bad.append(f"{name} is judged without a word")
    for name, text in effects.items():
        if text not in (rows.get(name, {}).get("effect") or ""):
            bad.append(f'{name}: "{rows.get(name, {}).get("effect")}" lacks "{text}"')
    return bad


def run(binary, folder, which):
    cases = {"threads": threads.CASES, "rules": rules.cases(), "published": [c + ({},) for c in published.CASES]}
    cases = [c for kind in cases if which in ("all", kind) for c in cases[kind]]
    cases.sort(key=lambda c: "" if c[1] in HOSTS else c[1])
    laid = ""
    make_hosts(folder)
    worst = 0
    print(f"1..{len(cases)}")
    for n, (name, host, settings, ids, effects) in enumerate(cases, 1):
        if host not in HOSTS and host != laid:
            shutil.rmtree(os.path.join(folder, laid or "none"), ignore_errors=True)
            lay(folder, host)
            laid = host
        bad = faults(judge(binary, folder, host, settings), settings, ids, effects, host in HOSTS)
        worst |= bool(bad)
        print(f"{'not ok' if bad else 'ok'} {n} {name}: {settings[:100]}" + "".join(f"\n# {b}" for b in bad))
    return worst


if __name__ == "__main__":
    sys.exit(rules.table() if sys.argv[1] == "--table" else run(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "all"))
