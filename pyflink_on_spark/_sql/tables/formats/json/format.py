"""The format ``json``."""

from __future__ import annotations

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.options import Option, TableOptions, boolean, one_of
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.tables.formats.format import Decoder, Encoder, Format, check_has_text
from pyflink_on_spark._sql.tables.formats.json.reading import JsonDecoder
from pyflink_on_spark._sql.tables.formats.json.writing import JsonEncoder

_FAIL_ON_MISSING = Option("fail-on-missing-field", boolean, default=False)
_IGNORE_ERRORS = Option("ignore-parse-errors", boolean, default=False)
_TIMESTAMPS = Option("timestamp-format.standard", one_of("sql", "iso-8601"), default="sql")
_IGNORE_NULLS = Option("encode.ignore-null-fields", boolean, default=False)


class JsonFormat(Format):
    """Objects with a field for each column."""

    identifier = "json"
    options = (_FAIL_ON_MISSING, _IGNORE_ERRORS, _TIMESTAMPS, _IGNORE_NULLS)

    def decoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Decoder:
        """Return what reads rows."""
        check_has_text(schema)
        self._note_all(options)
        strict, lenient = options[_FAIL_ON_MISSING], options[_IGNORE_ERRORS]
        if strict and lenient:
            raise ValidationError(
                "fail-on-missing-field and ignore-parse-errors shouldn't both be true."
            )
        return JsonDecoder(schema, bool(strict), bool(lenient))

    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Return what writes rows."""
        check_has_text(schema)
        self._note_all(options)
        iso = options[_TIMESTAMPS] == "iso-8601"
        return JsonEncoder(schema, iso, bool(options[_IGNORE_NULLS]))

    def _note_all(self, options: TableOptions) -> None:
        options.note(self.options)
