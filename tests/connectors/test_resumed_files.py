"""Errors name their cause; a job that resumes after a repair loses nothing."""

from __future__ import annotations

import pytest

from pyflink_on_spark.datastream.connectors.file_system import FileSource
from pyflink_on_spark.datastream.formats.csv import CsvReaderFormat, CsvSchema
from pyflink_on_spark.table import DataTypes
from tests.connectors.reading import checkpoint, close, readers_of


class TestFiles:
    def test_a_row_of_csv_without_all_its_columns(self, tmp_path):
        file = tmp_path / "rows.csv"
        whole = "".join(f"{number},x\n" for number in range(10_000)) + "10000,y\n"
        file.write_text(whole.replace("10000,y", "10000"))
        schema = CsvSchema.builder().add_number_column("n", DataTypes.INT())
        form = CsvReaderFormat.for_schema(schema.add_string_column("s").build())
        source = FileSource.for_record_stream_format(form, str(file)).build()._source
        before, saved = self.until_it_fails(
            source, rf"{file}, line 10001: Row length mismatch\. 2 fields expected but was 1"
        )
        file.write_text(whole)
        after = self.rest(source, saved)
        assert [row["n"] for row in before + after] == list(range(10_001))

    def test_an_avro_file_that_is_cut_off(self, tmp_path):
        fastavro = pytest.importorskip("fastavro", reason="Avro files need fastavro")
        file = tmp_path / "rows.avro"
        schema = {"type": "record", "name": "r", "fields": [{"name": "n", "type": "int"}]}
        with file.open("wb") as output:
            rows = ({"n": number} for number in range(10_000))
            fastavro.writer(output, schema, rows, sync_interval=4_000)
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) * 3 // 4])
        from pyflink_on_spark.datastream.formats.avro import AvroInputFormat, AvroSchema

        text = '{"type": "record", "name": "r", "fields": [{"name": "n", "type": "int"}]}'
        made = AvroInputFormat(str(file), AvroSchema.parse_string(text))
        source = made._source
        before, saved = self.until_it_fails(source, f"cannot read {file}")
        file.write_bytes(whole)
        after = self.rest(source, saved)
        assert [row["n"] for row in before + after] == list(range(10_000))

    def until_it_fails(self, source, error):
        (reader,) = readers_of(source, 1)
        found = []
        with pytest.raises(ValueError, match=error):
            self.read_all(reader, found)
        saved = checkpoint([reader])
        close([reader])
        return found, saved

    def rest(self, source, saved):
        (reader,) = readers_of(source, 1, saved)
        found = []
        self.read_all(reader, found)
        close([reader])
        return found

    def read_all(self, reader, found):
        while not reader.ended:
            bundle = reader.poll()
            found += bundle.values if bundle else []
