"""Which records a table of CSV files has: quotes, errors, comments, escapes."""

from __future__ import annotations

import pytest

from compat_tests.tables import query

COLUMNS = "a INT, b STRING"
TEXTS = "a STRING, b STRING"
LENIENT = ", 'csv.ignore-parse-errors' = 'true'"
COMMENTS = ", 'csv.allow-comments' = 'true'"
ESCAPES = r", 'csv.escape-character' = '\'"
FAILS = "fails"
MANY = "".join(f"{i},n{i}\n" for i in range(6000))
FEW = "".join(f"{i},n{i}\n" for i in range(100))
FIRST_TEN = [(i, f"n{i}") for i in range(10)]

# The columns, the content, the options, the rows of a strict table, and of a lenient one.
CASES = {
    "quoted lines": (COLUMNS, '1,"x\ny"\n2,"p\r\nq"\r\n', "", [(1, "x\ny"), (2, "p\r\nq")], None),
    "line ends": (COLUMNS, "1,x\r2,y\r\n3,z", "", [(1, "x"), (2, "y"), (3, "z")], None),
    "a quote inside": (COLUMNS, '1,ab"c\n2,z"\n3,  "w"\n', "",
                       [(1, 'ab"c'), (2, 'z"'), (3, '  "w"')], None),
    "blanks after a quote": (COLUMNS, '1,"ab"  \n2,z\n', "", [(1, "ab"), (2, "z")], None),
    "text after a quote": (COLUMNS, '1,"ab"c\n2,z\n', "", FAILS, [(2, "z")]),
    "a field after that": (COLUMNS, '1,"a\nb"c,"d\ne"\n2,z\n', "", FAILS, [(2, "z")]),
    "a quote after that": (COLUMNS, '1,"ab"c"d\n2,z\n', "", FAILS, FAILS),
    "an open quote": (COLUMNS, '1,x\n2,"z\n3,w\n', "", FAILS, [(1, "x")]),
    "a stray quote": (COLUMNS, MANY.replace("10,n10\n", '10,"n10\n', 1), "", FAILS, FIRST_TEN),
    "two stray quotes": (
        COLUMNS,
        MANY.replace("10,n10\n", '10,"n10\n', 1).replace("5900,n5900\n", '5900,"n5900"\n'),
        "", FAILS, [*FIRST_TEN, *((i, f"n{i}") for i in range(5901, 6000))],
    ),
    "an inch": (COLUMNS, FEW.replace(",n10\n", ',5"\n', 1).replace(",n80\n", ',"a\nb"\n'), "",
                [(i, {10: '5"', 80: "a\nb"}.get(i, f"n{i}")) for i in range(100)], None),
    "no number": (COLUMNS, 'q,"a\nb"\n2,w\n', "", FAILS, [(None, "a\nb"), (2, "w")]),
    "too few fields": (COLUMNS, "1,x\n2\n", "", FAILS, [(1, "x"), (2, None)]),
    "too many fields": (COLUMNS, '1,x,"a\nb",c\n2,z\n', "", FAILS, [(2, "z")]),
    "a delimiter at the end": (COLUMNS, "1,x,\n2,y, \n", "", [(1, "x"), (2, "y")], None),
    "two of them": (COLUMNS, "1,x,,\n2,y\n", "", FAILS, [(2, "y")]),
    "empty lines": (COLUMNS, "1,x\n\n   \n2,y\n", "", FAILS,
                    [(1, "x"), (None, None), (None, None), (2, "y")]),
    "empty lines of one column": ("a STRING", "x\n\ny\n", "", [("x",), ("",), ("y",)], None),
    "a mark": (COLUMNS, b"\xef\xbb\xbf1,x\n", "", [(1, "x")], None),
    "UTF-16": (COLUMNS, "1,é\n2,y\n".encode("utf-16"), "", [(1, "é"), (2, "y")], None),
    "a surrogate": (COLUMNS, b"1,\xed\xa0\x80\n", "", [(1, "?")], None),
    "no UTF-8": (COLUMNS, b"1,x\n2,\xff\n", "", FAILS, FAILS),
    "control characters": (TEXTS, "a\x0cb,c\x0bd\ne\u2028f,g\x85h\ni\x00,j\n", "",
                           [("a\x0cb", "c\x0bd"), ("e\u2028f", "g\x85h"), ("i\x00", "j")], None),
    "empty texts": (TEXTS, ',""\n"",\n', "", [("", ""), ("", "")], None),
    "comments": (COLUMNS, '#c\n1,x\n\n  # d\n2,"a\n#b"\n', COMMENTS,
                 [(1, "x"), (2, "a\n#b")], None),
    "only comments": (COLUMNS, "#c\n1,x\n\n  # d\n2,#y\n", COMMENTS, [(1, "x"), (2, "#y")], None),
    "blanks before a record": (TEXTS, "#c\n  a,b\n \tc,d\n\te,f\n", COMMENTS,
                               [("a", "b"), ("\tc", "d"), ("\te", "f")], None),
    "blanks before quotes": (TEXTS, '#c\n  a,"b"\n \tc,d\n\te,f\n', COMMENTS,
                             [("a", "b"), ("\tc", "d"), ("\te", "f")], None),
    "escapes": (TEXTS, 'a\\,b,c\n"x\\"y",z\na\\nb,"c\\td"\nq\\\\,w\ne\\\nf,g\n', ESCAPES,
                [("a,b", "c"), ('x"y', "z"), ("a\nb", "c\td"), ("q\\", "w"), ("e\nf", "g")], None),
    "an escape of nothing": (TEXTS, "a,c\\", ESCAPES, FAILS, []),
    "no quotes": (TEXTS, 'a"b,"c\nd"e,f\n', ", 'csv.disable-quote-character' = 'true'",
                  [('a"b', '"c'), ('d"e', "f")], None),
    "other quotes": (TEXTS, "'a,b',c\n'x\ny','it''s'\n", ", 'csv.quote-character' = ''''",
                     [("a,b", "c"), ("x\ny", "it's")], None),
    "texts for NULL": (COLUMNS, '1,n/a\nn/a,n/a\n3,"n/a"\n', ", 'csv.null-literal' = 'n/a'",
                       [(1, None), (None, None), (3, None)], None),
    "no text for NULL": (COLUMNS, '1,\n,x\n3,""\n', ", 'csv.null-literal' = ''",
                         [(1, None), (None, "x"), (3, None)], None),
}  # fmt: skip


def rows_of(t_env, tmp_path, columns, content, options):
    path = tmp_path / "in.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    t_env.execute_sql(
        f"CREATE TEMPORARY TABLE t ({columns}) WITH ('connector' = 'filesystem', "
        f"'path' = '{path}', 'format' = 'csv'{options})"
    )
    return query(t_env, "SELECT * FROM t")


@pytest.mark.parametrize("lenient", [False, True], ids=["strict", "lenient"])
@pytest.mark.parametrize("case", CASES)
def test_records(t_env, tmp_path, case, lenient):
    columns, content, options, rows, lenient_rows = CASES[case]
    expected = (rows if lenient_rows is None else lenient_rows) if lenient else rows
    options += LENIENT if lenient else ""
    if expected == FAILS:
        with pytest.raises(Exception):  # noqa: B017, PT011 - of different kinds
            rows_of(t_env, tmp_path, columns, content, options)
    else:
        assert rows_of(t_env, tmp_path, columns, content, options) == expected
