"""The arguments of the formats, accepted and refused; unusable ones fail when used."""

from __future__ import annotations

from datetime import date

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common import Configuration, Row, Types
from pyflink_on_spark.datastream.connectors.file_system import FileSource
from pyflink_on_spark.datastream.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from pyflink_on_spark.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)
from pyflink_on_spark.datastream.formats.orc import OrcBulkWriters
from pyflink_on_spark.datastream.formats.parquet import (
    AvroParquetReaders,
    AvroParquetWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from pyflink_on_spark.table import DataTypes

ROW = Types.ROW_NAMED(["a"], [Types.INT()])
RECORD = '{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]}'
COLUMNS = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())])


class TestJson:
    def test_reading_keeps_what_it_was_told(self):
        builder = JsonRowDeserializationSchema.builder().type_info(ROW).fail_on_missing_field()
        schema = builder.build()
        assert schema._format.row_type == ROW
        assert schema._format.fail_on_missing_field
        assert not schema._format.ignore_errors
        assert schema._produced_type() == ROW
        with pytest.raises(ValueError, match="Could not find field with name 'a'"):
            schema._deserializer()(b"{}")

    def test_errors_are_met_in_one_way(self):
        builder = JsonRowDeserializationSchema.builder().type_info(ROW).ignore_parse_errors()
        assert builder.build()._format.ignore_errors
        with pytest.raises(ValueError, match="are both true"):
            builder.fail_on_missing_field().build()

    def test_a_json_schema_sets_the_type(self):
        text = '{"type": "object", "properties": {"a": {"type": "string", "format": "date"}}}'
        schema = JsonRowDeserializationSchema.builder().json_schema(text).build()
        assert schema._produced_type() == Types.ROW_NAMED(["a"], [Types.SQL_DATE()])
        assert schema._deserializer()(b'{"a": "1990-10-14"}') == Row(a=date(1990, 10, 14))
        with pytest.raises(TypeError, match="must not be None"):
            JsonRowDeserializationSchema.builder().json_schema(None)

    def test_needs_a_row_type(self):
        for builder in (
            JsonRowDeserializationSchema.builder(),
            JsonRowSerializationSchema.builder(),
        ):
            with pytest.raises(TypeError, match="Typeinfo should be set"):
                builder.build()
        with pytest.raises(ValueError, match="Only RowTypeInfo"):
            JsonRowDeserializationSchema.builder().type_info(Types.STRING()).build()
        with pytest.raises(ValueError, match="Only RowTypeInfo"):
            JsonRowSerializationSchema.builder().with_type_info(Types.STRING()).build()

    def test_writing_keeps_its_type(self):
        schema = JsonRowSerializationSchema.builder().with_type_info(ROW).build()
        assert schema._format.row_type == ROW
        assert schema._serializer()(Row(1)) == b'{"a":1}'


class TestAvro:
    def test_a_schema_is_json(self, tmp_path):
        file = tmp_path / "schema.avsc"
        file.write_text(RECORD)
        schema = AvroSchema.parse_file(str(file))
        assert str(schema) == RECORD.replace(" ", "")
        for broken in ("{", "1"):
            with pytest.raises(ValueError, match="an Avro schema is"):
                AvroSchema.parse_string(broken)

    def test_types_are_equal_by_schema(self):
        first, second = (GenericRecordAvroTypeInfo(AvroSchema(RECORD)) for _ in range(2))
        assert first == second
        assert first != GenericRecordAvroTypeInfo(AvroSchema('"string"'))

    def test_a_file_of_records_has_their_type(self):
        schema = AvroSchema(RECORD)
        avro = AvroInputFormat("/data", schema)
        assert avro.get_produced_type() == GenericRecordAvroTypeInfo(schema)
        assert avro._source.produced_type == avro.get_produced_type()

    def test_writers_know_their_schema(self):
        schema = AvroSchema(RECORD)
        assert (
            AvroBulkWriters.for_generic_record(schema).get_java_object().definition
            == schema._definition
        )

    @pytest.mark.parametrize("kind", [AvroRowDeserializationSchema, AvroRowSerializationSchema])
    def test_messages_have_a_schema(self, kind):
        assert str(kind(avro_schema_string=RECORD)._schema) == RECORD.replace(" ", "")
        with pytest.raises(TypeError, match="should be specified"):
            kind()
        with pytest.raises(UnsupportedFlinkFeature, match="as avro_schema_string"):
            kind("org.example.Record")


class TestParquetAndOrc:
    def test_rows_have_their_type(self, tmp_path):
        rows = ParquetColumnarRowInputFormat(COLUMNS, Configuration(), 100, True, False)
        source = FileSource.for_bulk_file_format(rows, str(tmp_path)).build()
        assert source._source.produced_type == ROW

    @pytest.mark.parametrize("option", ["fs.s3a.access.key", "parquet.filter.stats.enabled"])
    def test_options_without_a_counterpart_are_refused(self, option):
        hadoop = Configuration()
        hadoop.set_string(option, "secret")
        for make in (
            lambda: ParquetColumnarRowInputFormat(COLUMNS, hadoop),
            lambda: ParquetBulkWriters.for_row_type(COLUMNS, hadoop),
            lambda: OrcBulkWriters.for_row_type(COLUMNS, None, hadoop),
            lambda: OrcBulkWriters.for_row_type(COLUMNS, hadoop),
        ):
            with pytest.raises(UnsupportedFlinkFeature, match=option) as caught:
                make()
            assert "secret" not in str(caught.value)

    def test_records_have_their_type(self, tmp_path):
        records = AvroParquetReaders.for_generic_record(AvroSchema(RECORD))
        source = FileSource.for_record_stream_format(records, str(tmp_path)).build()
        expected = GenericRecordAvroTypeInfo(AvroSchema(RECORD))
        assert source._source.produced_type == expected

    def test_writers_know_their_columns(self):
        schema = AvroSchema(RECORD)
        records = AvroParquetWriters.for_generic_record(schema)
        assert records.get_java_object().definition == schema._definition
        parquet = ParquetBulkWriters.for_row_type(COLUMNS, utc_timestamp=True)
        assert parquet.get_row_type() == COLUMNS
        assert parquet.get_java_object().utc_timestamps
        writing = Configuration()
        writing.set_string("orc.compress", "LZ4")
        orc = OrcBulkWriters.for_row_type(COLUMNS, writing)
        assert orc.get_row_type() == COLUMNS
        assert orc.get_java_object().arguments == {"compression": "lz4"}

    @pytest.mark.parametrize("make", [OrcBulkWriters.for_row_type, ParquetBulkWriters.for_row_type])
    def test_columns_are_a_row_type(self, make):
        with pytest.raises(TypeError, match="row_type must be an instance of RowType"):
            make(DataTypes.INT())
