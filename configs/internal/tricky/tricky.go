// Package tricky has texts for the tests of whoever reads TOML.
package tricky

// TOML are texts that a careless scanner trips over.
var TOML = []string{
	"",
	"a = 1",
	"a = 1 # b = 2\n# c = 3\n",
	"\ufeffa = 1\r\nb = 2\r\n",
	"a = \"# no comment\"\nb = '[no] header'\n",
	"a = \"\\\"\\\\\" # \"\nb = 2",
	"a = \"\"\"\nb = 1\n[c]\n\"\"\"\nd = 2",
	"a = \"\"\"x\"\"\"\"\"\nb = 1",
	"a = '''\n'''''\nb = 1",
	"a = \"\"\"\\\n   x \\\"\"\"\\\"\"\"\"\nb = 1",
	"\"a.b\" = 1\n'c d' = 2\n\"\" = 3\n\"\\u00e9\\n\" = 4\n",
	"a.b.c = 1\na . d = 2\n\"x\" . 'y' = 3\n",
	"[a]\nb = 1\n[ a . c ]\nd = 2\n[\"a\".'e f']\ng = 3",
	"[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 1\n[[a.e]]\nf = 1\n[[a.e]]\nf = 2\n[[a]]\n[[a.e]]\nf = 3\n",
	"a = [\n 1, # one\n 2,\n]\nb = [[1, 2], [\n3]]\nc = []\n",
	"a = { b = 1, c = { d = 2, e = [ { f = 3 }, { f = 4 } ] }, g.h = 5 }\ni = {}\n",
	"a = [ { b = 1 },\n { b = 2, c = \"]}\" } ]\nd = 1",
	"a = [\n  [ { b = 1 } ],\n  [ { b = 2 } ],\n]\n",
	"a = {\n  b = 1, # comment }\n  c = 2,\n}\n",
	"a = 1979-05-27 07:32:00Z\nb = 07:32:00\nc = +1_000.5e-3\nd = inf\ne = nan\nf = true\n",
	"1 = 1\n-a_ = 2\n3.14 = 3\n",
	"a = 'x\\'\nb = \"\\x41\\e\"\n",
}
