#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts use the words of the glossary in CONTRIBUTING.md.

    tests/lint/wording.py           words that the glossary rules out, vague names of functions, subjects of commits
    tests/lint/wording.py --list    every text that an operator reads: FILE:LINE: text

Checked are strings and comments of the product, tables, man pages and documents. Identifiers, words joined by "-" or "_" (ids, keys,
options) and the exceptions below are left alone. Subjects are checked from the commit on that added this file, where there is history."""
import glob, os, re, subprocess, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))

# Text of others, which is quoted as it is.
FOREIGN = {
    'lib/base/errno.c': 'descriptions of the C library',
    'lib/base/klog-form.c': 'lines of the kernel log',
    'lib/analyse/env/env-names-list.c': 'names of variables',
}
# (word, what may follow it): RFC 826 and arp_announce(7) speak of answering ARP requests.
ALLOWED = {'answer': r'\s+(?:an? )?ARP'}
# Forms of sentences rather than words: "0 is no number", "of which none is".
INVERTED = re.compile(r'(?<!there )(?<!\bit )\b(?:is|are) no (?!longer|more than|less|different|better|worse|evidence|guarantee|substitute)(?:[a-z]+)|\bis none\b(?<!there is none)(?! of)|\bof which none\b', re.I)
# A name has to say what is found, added or copied.
VAGUE = 'add ask copy find hold look note offer part run say tell turn'.split()
SUBJECT_MAX = 72

TEXTS = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'NEWS', 'doc/*.md', 'man/*.[1-9]', 'data/*',
         'integration/README.md', 'tests/vm/README.md', 'etc/README']
SOURCES = ['lib/**/*.[ch]', 'cmd/**/*.[ch]', 'bpf/*.[ch]']
LITERAL = r'"(?:\\.|[^"\\\n])*"'
STRINGS = re.compile(rf'{LITERAL}(?:\s*(?:(?:PRI\w+|RD_\w+)\s*)?{LITERAL})*')
COMMENT = re.compile(r'/\*.*?\*/', re.S)


def files(patterns):
    return sorted(path for pattern in patterns for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))


def line_of(text, at):
    return text.count('\n', 0, at) + 1


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group())


def strings(text):
    """(line, text) of each string, those that follow each other joined; without comments and #include."""
    text = re.sub(r'^#include.*$', blank, re.sub(rf'{LITERAL}|/\*.*?\*/', lambda m: blank(m) if m.group()[0] == '/' else m.group(),
                                                 text, flags=re.S), flags=re.M)
    for m in STRINGS.finditer(text):
        yield line_of(text, m.start()), ''.join(part[1:-1] for part in re.findall(LITERAL, m.group()))


def comments(text):
    text = re.sub(LITERAL, blank, text)
    for m in COMMENT.finditer(text):
        yield line_of(text, m.start()), re.sub(r'\s*\n\s*\*?\s*', ' ', m.group()[2:-2])


def paragraphs(text, path):
    """(line, text) of each paragraph; for a table, of each row. Code, and macros of mdoc that name an option, are left out."""
    line, held, code = 0, [], False

    def joined():
        return re.sub(r'`[^`]*`', '', ' '.join(held))

    for n, part in enumerate(text.split('\n') + [''], 1):
        if path.startswith('man/'):
            part = re.sub(r'^\.(?:Fl|Ar|Cm|Nm|Xr|Ic|Li|Pa|Ev|Nd)\b.*|\b(?:Fl|Cm|Ic|Ev|Pa) \S+', '', part)
        if not part.strip() or part.startswith(('|', '```', '#')) and held:
            if held:
                yield line, joined()
            held = []
        code ^= part.startswith('```')
        if part.strip() and not code:
            line = line if held else n
            held.append(part.strip('# '))
        if part.startswith('|'):
            yield line, joined()
            held = []


def glossary():
    """The words that are out: the last column of the glossary's table."""
    text = open('CONTRIBUTING.md', encoding='utf-8').read().partition('## Glossary')[2].partition('\n## ')[0]
    rows = [line.split('|') for line in text.split('\n') if line.startswith('| ')]
    return sorted({word.strip() for row in rows[2:] for word in row[3].split(',') if word.strip()})


def patterns(words):
    """A text that is in all of its forms, and a word with its forms in -s, -ed and -ing."""
    for word in words:
        form = re.escape(word).replace(r'\ ', r'\s+')
        stem = form[:-1] if form.endswith('e') else form
        yield word.split()[0].removesuffix('e').lower(), re.compile(rf'(?<![\w>/-])(?:{form}(?:e?s|e?d)?|{stem}ing)(?![\w-]){f"(?!{ALLOWED[word]})" if word in ALLOWED else ""}', re.I)


def all_texts():
    """(path, line, text) of everything that is checked."""
    for path in files(SOURCES):
        if path not in FOREIGN:
            text = open(path, encoding='utf-8').read()
            for line, said in (*strings(text), *comments(text)):
                yield path, line, said
    for path in files(TEXTS):
        text = open(path, encoding='utf-8').read()
        # What programs print is quoted as it is.
        text = re.sub(r'(?m)^\t(?:match|also|alias|source) .*$', '', text)
        if path == 'CONTRIBUTING.md': # the glossary names them
            head, _, rest = text.partition('## Glossary')
            table, _, tail = rest.partition('\n## ')
            text = head + '\n' * (table.count('\n') + 1) + '## ' + tail
        for line, said in paragraphs(text, path):
            yield path, line, said


def check_words():
    out = list(patterns(glossary()))
    if not out:
        yield 'CONTRIBUTING.md: no glossary'
    out.append((' no', INVERTED))
    for path, line, text in all_texts():
        lower = text.lower()
        for part, pattern in out:
            found = part in lower and pattern.search(text)
            if found:
                yield f'{path}:{line}: "{found.group()}": see the glossary in CONTRIBUTING.md: {text[max(found.start() - 40, 0):found.end() + 40].strip()}'


def check_names():
    for path in files(SOURCES):
        text = open(path, encoding='utf-8').read()
        for m in re.finditer(rf'^static [^\n;=]*?\b({"|".join(VAGUE)})\([^;]*?\)\n\{{', text, re.M):
            yield f'{path}:{line_of(text, m.start())}: {m.group(1)}(): name what it is about'


def git(*arguments):
    return subprocess.run(('git', *arguments), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def imperative(subject):
    """The first word behind the area is a verb in the imperative, as far as its form tells."""
    word = subject.rpartition(': ')[2].split(' ')[0].lower()
    return word.isalpha() and word not in ('a', 'an', 'the', 'all', 'each', 'every', 'it', 'its', 'no', 'one', 'there', 'what', 'who', 'how') and not (
        re.search(r'(?<!s)s$|ing$|ed$', word) and word not in ('bring', 'ring', 'string', 'need', 'feed', 'seed', 'embed', 'exceed', 'focus', 'bias'))


def check_subjects():
    born = git('log', '--diff-filter=A', '--format=%H', '--', 'tests/lint/wording.py').split()
    for row in git('log', '--no-merges', '--format=%h%x09%s', f'{born[-1]}..HEAD').splitlines() if born else ():
        commit, _, subject = row.partition('\t')
        if len(subject) > SUBJECT_MAX:
            yield f'commit {commit}: {len(subject)} characters, at most {SUBJECT_MAX}: {subject}'
        if not imperative(subject):
            yield f'commit {commit}: the subject is not in the imperative: {subject}'


def operator_texts():
    for path in files(['lib/**/*.c', 'cmd/**/*.c', 'lib/**/*.h', 'cmd/**/*.h']):
        for line, text in strings(open(path, encoding='utf-8').read()):
            if ' ' in text and len(re.findall(r'[A-Za-z]{2,}', text)) >= 3:
                yield path, line, text
    for path in files(['data/*', 'man/*.[1-9]']):
        for line, text in paragraphs(open(path, encoding='utf-8').read(), path):
            yield path, line, text


if __name__ == '__main__':
    if sys.argv[1:] == ['--list']:
        for row in operator_texts():
            print('%s:%d: %s' % row)
        sys.exit(0)
    bad = [*check_words(), *check_names(), *check_subjects()]
    print('\n'.join(bad), end='\n' if bad else '')
    sys.exit(bool(bad))
