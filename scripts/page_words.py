#!/usr/bin/env python3
"""Counts the words of the documentation's pages at a commit and now, without what is generated and without
code: files, commands and what they print, which have to be as they are.

usage: scripts/page_words.py [COMMIT]   (5a9c202 where none is named; run it in a clone that has it)
"""
import re, subprocess, sys

GENERATED = re.compile(r"<!-- (?:generated: .*?<!-- end of what is generated|rules: begin.*?<!-- rules: end) -->", re.S)
CODE = re.compile(r"^```.*?^```|^<!-- test: .*?-->", re.S | re.M)


def git(*args):
    return subprocess.run(["git", *args], capture_output=True, text=True, check=True).stdout


def pages(commit):
    names = git("ls-tree", "-r", "--name-only", commit, "--", "docs", "README.md").split() if commit else git("ls-files", "--", "docs", "README.md").split()
    read = (lambda n: git("show", f"{commit}:{n}")) if commit else (lambda n: open(n, encoding="utf-8").read())
    return {n: len([w for w in CODE.sub("", GENERATED.sub("", read(n))).split() if any(c.isalnum() for c in w)]) for n in names if n.endswith(".md")}


before, now = pages(sys.argv[1] if len(sys.argv) > 1 else "5a9c202"), pages(None)
for name, words in before.items():
    print(f"{name:42} {words:6} {now.get(name, 0):6} {now.get(name, 0) / words:5.2f}")
new = sum(words for name, words in now.items() if name not in before)
old = sum(now.get(name, 0) for name in before)
print(f"{'pages of before':42} {sum(before.values()):6} {old:6} {old / sum(before.values()):5.2f}\n{'pages that are new':42} {'':6} {new:6}")
