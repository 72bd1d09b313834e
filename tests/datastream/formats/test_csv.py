"""The arguments of CSV formats, accepted and refused as by real PyFlink."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream.connectors.file_system import FileSource
from pyflink_on_spark.datastream.formats.csv import (
    CsvBulkWriters,
    CsvColumn,
    CsvReaderFormat,
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
    CsvSchema,
    CsvSchemaSettings,
)
from pyflink_on_spark.table import DataTypes

ROW = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])


class TestSchema:
    def test_columns_and_their_types(self):
        schema = (
            CsvSchema.builder()
            .add_number_column("id", DataTypes.INT())
            .add_number_column("count")
            .add_string_column("name")
            .add_array_column("list", ",", DataTypes.DOUBLE())
            .add_boolean_column("flag")
            .build()
        )
        assert schema._row_type == DataTypes.ROW(
            [
                DataTypes.FIELD("id", DataTypes.INT()),
                DataTypes.FIELD("count", DataTypes.BIGINT()),
                DataTypes.FIELD("name", DataTypes.STRING()),
                DataTypes.FIELD("list", DataTypes.ARRAY(DataTypes.DOUBLE())),
                DataTypes.FIELD("flag", DataTypes.BOOLEAN()),
            ]
        )
        assert schema._settings.columns[3] == CsvColumn("list", "ARRAY", ",")
        assert len(schema) == schema.size() == 5

    def test_text_is_as_in_pyflink(self):
        builder = CsvSchema.builder().add_number_column("id").add_array_column("l")
        assert str(builder.build()) == (
            '[CsvSchema: columns=["id"/NUMBER,"l"/ARRAY], header? false, skipFirst? false, '
            "comments? false, any-properties? N/A]"
        )
        builder.set_use_header().set_skip_first_data_row().set_allow_comments()
        assert repr(builder.set_any_property_name("x").build()) == (
            '[CsvSchema: columns=["id"/NUMBER,"l"/ARRAY], header? true, skipFirst? true, '
            "comments? true, any-properties? as 'x']"
        )

    def test_keeps_how_the_file_is_written(self):
        builder = CsvSchema.builder().set_column_separator("|").set_escape_char("\\")
        builder.set_quote_char("'").set_line_separator("\r\n").set_null_value("null")
        builder.set_array_element_separator("/").set_strict_headers()
        assert builder.build()._settings == CsvSchemaSettings(
            column_separator="|",
            escape="\\",
            quote="'",
            line_separator="\r\n",
            null="null",
            array_separator="/",
            strict_header=True,
        )
        builder.disable_escape_char().disable_quote_char().disable_array_element_separator()
        settings = builder.set_null_value(None).build()._settings
        assert (settings.escape, settings.quote, settings.array_separator) == (None, None, "")
        assert settings.null == ""

    def test_columns_of_another_schema(self):
        other = CsvSchema.builder().add_array_column("l", "-").build()
        builder = CsvSchema.builder().add_string_column("a").add_columns_from(other)
        assert builder.build()._row_type.field_names() == ["a", "l"]
        assert builder.build()._settings.columns[1].separator == "-"
        assert len(builder.clear_columns()) == 0
        assert builder.build()._settings.columns == ()

    def test_one_columns_separator_can_be_removed(self):
        builder = CsvSchema.builder().add_array_column("l").remove_array_element_separator(0)
        assert builder.build()._settings.columns == (CsvColumn("l", "ARRAY", ""),)
        with pytest.raises(ValueError, match="Illegal index 3; only got 1 columns"):
            builder.remove_array_element_separator(3)

    @pytest.mark.parametrize("method", ["set_column_separator", "set_escape_char"])
    @pytest.mark.parametrize("text", ["", "ab"])
    def test_characters_are_single(self, method, text):
        with pytest.raises(ValueError, match="must be a single char, got"):
            getattr(CsvSchema.builder(), method)(text)

    def test_switches_are_booleans(self):
        with pytest.raises(TypeError, match="takes bool, not int"):
            CsvSchema.builder().set_use_header(1)

    def test_a_built_schema_does_not_change(self):
        builder = CsvSchema.builder().add_string_column("a")
        built = builder.build()
        builder.add_string_column("b").set_use_header()
        assert len(built) == len(built._row_type) == 1
        assert not built._settings.header


class TestFiles:
    def test_rows_have_their_type(self, tmp_path):
        csv = CsvReaderFormat.for_schema(CsvSchema.builder().add_string_column("a").build())
        source = FileSource.for_record_stream_format(csv, str(tmp_path)).build()
        assert source._source.produced_type == Types.ROW_NAMED(["a"], [Types.STRING()])

    def test_a_writer_knows_its_schema(self):
        schema = CsvSchema.builder().add_string_column("a").build()
        factory = CsvBulkWriters.for_schema(schema)
        assert factory.get_row_type() == schema._row_type
        assert factory.get_java_object().form == schema._file_settings()


class TestMessages:
    @pytest.mark.parametrize("kind", [CsvRowDeserializationSchema, CsvRowSerializationSchema])
    class TestBoth:
        def test_keeps_what_it_was_told(self, kind):
            builder = kind.Builder(ROW).set_field_delimiter("|").set_quote_character("'")
            builder.set_escape_character("\\").set_array_element_delimiter("/")
            row_format = builder.set_null_literal("null").build()._format
            assert row_format.row_type == ROW
            assert row_format.field_delimiter == "|"
            assert row_format.quote == "'"
            assert row_format.escape == "\\"
            assert row_format.array_delimiter == "/"
            assert row_format.null == "null"

        def test_takes_the_first_character_only(self, kind):
            builder = kind.Builder(ROW).set_field_delimiter("ab")
            assert builder.build()._format.field_delimiter == "a"

        def test_needs_a_row_type(self, kind):
            with pytest.raises(TypeError, match="must not be None"):
                kind.Builder(None)
            with pytest.raises(ValueError, match="Row type information expected"):
                kind.Builder(Types.LIST(Types.STRING()))

        @pytest.mark.parametrize(
            "field",
            [
                Types.INSTANT(),
                Types.PRIMITIVE_ARRAY(Types.BYTE()),
                Types.BASIC_ARRAY(Types.STRING()),
                Types.ROW([Types.INT()]),
            ],
        )
        def test_takes_simple_fields_and_one_level_of_others(self, kind, field):
            kind.Builder(Types.ROW([field]))

        @pytest.mark.parametrize(
            "field",
            [
                Types.CHAR(),
                Types.PICKLED_BYTE_ARRAY(),
                Types.TUPLE([Types.INT()]),
                Types.PRIMITIVE_ARRAY(Types.INT()),
                Types.MAP(Types.STRING(), Types.INT()),
                Types.LIST(Types.STRING()),
            ],
        )
        def test_refuses_other_fields(self, kind, field):
            with pytest.raises(ValueError, match=r"Unsupported type information .* for field 'f0'"):
                kind.Builder(Types.ROW([field]))

        def test_refuses_a_second_level(self, kind):
            with pytest.raises(ValueError, match="second level nesting of fields 'f0'"):
                kind.Builder(Types.ROW([Types.ROW([Types.ROW([Types.INT()])])]))

        def test_delimiters_are_not_empty_and_not_none(self, kind):
            with pytest.raises(ValueError, match="one character"):
                kind.Builder(ROW).set_escape_character("")
            with pytest.raises(TypeError, match="takes str, not NoneType"):
                kind.Builder(ROW).set_null_literal(None)

    def test_reading_options(self):
        builder = CsvRowDeserializationSchema.Builder(ROW).set_allow_comments(True)
        schema = builder.set_ignore_parse_errors(True).build()
        assert schema._format.comments
        assert schema._format.ignore_errors
        assert schema._produced_type() == ROW
        assert schema._deserializer()(b"# x\n1,a") is not None

    @pytest.mark.parametrize("line_end", ["\n", "\r", "\r\n", ""])
    def test_line_ends(self, line_end):
        builder = CsvRowSerializationSchema.Builder(ROW).set_line_delimiter(line_end)
        assert builder.build()._format.line_delimiter == line_end

    def test_writing_options(self):
        builder = CsvRowSerializationSchema.Builder(ROW).disable_quote_character()
        assert builder.build()._format.quote is None
        with pytest.raises(ValueError, match="Unsupported new line delimiter"):
            builder.set_line_delimiter("x")
        with pytest.raises(TypeError, match="not of NoneType"):
            builder.build()._serializer()(None)
