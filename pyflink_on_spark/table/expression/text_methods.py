"""The methods of expressions for texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflink_on_spark.table.expression.parts import Operand, function

if TYPE_CHECKING:
    from pyflink_on_spark.table.expression.expression import Expression


class TextMethods(Operand):
    """The methods of texts."""

    char_length = function("CHAR_LENGTH", "How many characters it has.")
    upper_case = function("UPPER", "It in capitals.")
    lower_case = function("LOWER", "It in small letters.")
    init_cap = function("INITCAP", "It with a capital at the beginning of each word.")
    from_base64 = function("FROM_BASE64", "The text that its Base64 stands for.")
    to_base64 = function("TO_BASE64", "Its Base64.")
    ascii = function("ASCII", "The code of its first character.")
    chr = function("CHR", "The character of which it is the code.")
    reverse = function("REVERSE", "It from its end to its beginning.")
    md5 = function("MD5", "Its MD5.")
    sha1 = function("SHA1", "Its SHA-1.")
    sha224 = function("SHA224", "Its SHA-224.")
    sha256 = function("SHA256", "Its SHA-256.")
    sha384 = function("SHA384", "Its SHA-384.")
    sha512 = function("SHA512", "Its SHA-512.")

    def sha2(self, hash_length: int | Expression[int]) -> Expression[str]:
        """Return its hash of some length."""
        return self._of("SHA2", hash_length)

    def concat(self, other: str | Expression[str]) -> Expression[str]:
        """The text, followed by another one."""
        return self._of("CONCAT", other)

    def starts_with(self, start_expr) -> Expression:
        """True if the text begins with another one."""
        return self._of("STARTSWITH", start_expr)

    def ends_with(self, end_expr) -> Expression:
        """True if the text ends with another one."""
        return self._of("ENDSWITH", end_expr)

    def substring(
        self,
        begin_index: int | Expression[int],
        length: int | Expression[int] | None = None,
    ) -> Expression[str]:
        """Return a part of it, from a position on."""
        return self._of("SUBSTRING", begin_index, length)

    def substr(
        self,
        begin_index: int | Expression[int],
        length: int | Expression[int] | None = None,
    ) -> Expression[str]:
        """Return a part of it, from a position on."""
        return self._of("SUBSTR", begin_index, length)

    def trim_leading(self, character: str | Expression[str] | None = None) -> Expression[str]:
        """Remove a character at the beginning; blanks if not given."""
        return self._of("TRIM", " " if character is None else character, symbols=("LEADING",))

    def trim_trailing(self, character: str | Expression[str] | None = None) -> Expression[str]:
        """Remove a character at the end; blanks if not given."""
        return self._of("TRIM", " " if character is None else character, symbols=("TRAILING",))

    def trim(self, character: str | Expression[str] | None = None) -> Expression[str]:
        """Remove a character at both ends; blanks if not given."""
        return self._of("TRIM", " " if character is None else character, symbols=("BOTH",))

    def replace(
        self,
        search: str | Expression[str] | None = None,
        replacement: str | Expression[str] | None = None,
    ) -> Expression[str]:
        """Replace a text everywhere."""
        return self._of("REPLACE", search, replacement)

    def translate(self, from_str, to_str) -> Expression:
        """Replace characters, each by the one at its place."""
        return self._of("TRANSLATE", from_str, to_str)

    def like(
        self,
        pattern: str | Expression[str] | None = None,
        escape=None,
    ) -> Expression[bool]:
        """True if the text is LIKE a pattern."""
        return self._of("LIKE", pattern, escape)

    def similar(self, pattern: str | Expression[str] | None = None) -> Expression[bool]:
        """True if the text is SIMILAR TO a pattern."""
        return self._of("SIMILAR TO", pattern)

    def position(self, haystack: str | Expression[str] | None = None) -> Expression[int]:
        """Return where it is found in a text, counted from 1; 0 if nowhere."""
        return self._of("POSITION", haystack)

    def lpad(self, length: int | Expression[int], pad: str | Expression[str]) -> Expression[str]:
        """The text at a certain length, padded on the left."""
        return self._of("LPAD", length, pad)

    def rpad(self, length: int | Expression[int], pad: str | Expression[str]) -> Expression[str]:
        """The text at a certain length, padded on the right."""
        return self._of("RPAD", length, pad)

    def overlay(
        self,
        new_string: str | Expression[str],
        starting: int | Expression[int],
        length: int | Expression[int] | None = None,
    ) -> Expression[str]:
        """Replace some characters, from a position on."""
        return self._of("OVERLAY", new_string, starting, length)

    def regexp(self, regex: str | Expression[str]) -> Expression[str]:
        """True if a part of the text matches a regular expression."""
        return self._of("REGEXP", regex)

    def regexp_count(self, regex) -> Expression:
        """Return how often a regular expression matches."""
        return self._of("REGEXP_COUNT", regex)

    def regexp_replace(
        self, regex: str | Expression[str], replacement: str | Expression[str]
    ) -> Expression[str]:
        """Replace all that matches a regular expression."""
        return self._of("REGEXP_REPLACE", regex, replacement)

    def regexp_extract(
        self, regex: str | Expression[str], extract_index: int | Expression[int] | None = None
    ) -> Expression[str]:
        """Return a group of the first match of a regular expression."""
        return self._of("REGEXP_EXTRACT", regex, extract_index)

    def regexp_extract_all(self, regex, extract_index=None) -> Expression:
        """Return a group of all matches of a regular expression."""
        return self._of("REGEXP_EXTRACT_ALL", regex, extract_index)

    def regexp_instr(self, regex) -> Expression:
        """Return where the first match of a regular expression begins."""
        return self._of("REGEXP_INSTR", regex)

    def regexp_substr(self, regex) -> Expression:
        """Return the first match of a regular expression."""
        return self._of("REGEXP_SUBSTR", regex)

    def inet_aton(self) -> Expression:
        """Return the number of an address, as ``127.0.0.1``."""
        return self._of("INET_ATON")

    def inet_ntoa(self) -> Expression[str]:
        """Return the address of a number."""
        return self._of("INET_NTOA")

    def decode(self, charset: str | Expression[str]) -> Expression[str]:
        """The text that the bytes encode in a character set."""
        return self._of("DECODE", charset)

    def encode(self, charset: str | Expression[str]) -> Expression[bytes]:
        """Return its bytes in a character set."""
        return self._of("ENCODE", charset)

    def left(self, length: int | Expression[int]) -> Expression[str]:
        """Return its first characters."""
        return self._of("LEFT", length)

    def right(self, length: int | Expression[int]) -> Expression[str]:
        """Return its last characters."""
        return self._of("RIGHT", length)

    def instr(self, s: str | Expression[str]) -> Expression[int]:
        """Return where a text is found in it, counted from 1; 0 if nowhere."""
        return self._of("INSTR", s)

    def locate(
        self, s: str | Expression[str], pos: int | Expression[int] | None = None
    ) -> Expression[int]:
        """Return where it is found in a text, counted from 1; 0 if nowhere."""
        return self._of("LOCATE", s, pos)

    def url_decode(self) -> Expression[str]:
        """Read a part of a URL."""
        return self._of("URL_DECODE")

    def url_encode(self) -> Expression[str]:
        """The text, encoded as a part of a URL."""
        return self._of("URL_ENCODE")

    def parse_url(
        self, part_to_extract: str | Expression[str], key: str | Expression[str] | None = None
    ) -> Expression[str]:
        """Return a part of a URL."""
        return self._of("PARSE_URL", part_to_extract, key)

    def printf(self, *obj) -> Expression:
        """The text with values in place of its directives."""
        return self._of("PRINTF", *obj)

    def ltrim(self, trim_str=None) -> Expression[str]:
        """Remove characters at the beginning; blanks if not given."""
        return self._of("LTRIM", trim_str)

    def rtrim(self, trim_str=None) -> Expression[str]:
        """Remove characters at the end; blanks if not given."""
        return self._of("RTRIM", trim_str)

    def btrim(self, trim_str=None) -> Expression:
        """Remove characters at both ends; blanks if not given."""
        return self._of("BTRIM", trim_str)

    def repeat(self, n: int | Expression[int]) -> Expression[str]:
        """The text, repeated."""
        return self._of("REPEAT", n)

    def split_index(
        self, separator: str | Expression[str], index: int | Expression[int]
    ) -> Expression[str]:
        """Return a part between separators, counted from 0."""
        return self._of("SPLIT_INDEX", separator, index)

    def str_to_map(
        self,
        list_delimiter: str | Expression[str] | None = None,
        key_value_delimiter: str | Expression[str] | None = None,
    ) -> Expression[dict]:
        """Return a map of its pairs."""
        return self._of("STR_TO_MAP", list_delimiter, key_value_delimiter)

    def split(self, delimiter) -> Expression:
        """Return the parts between separators."""
        return self._of("SPLIT", delimiter)

    def elt(self, expr, *exprs) -> Expression:
        """Return one of some texts, of which it is the number."""
        return self._of("ELT", expr, *exprs)
