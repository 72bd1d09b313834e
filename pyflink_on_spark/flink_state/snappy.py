"""Key groups that Flink has compressed, in the framed format of Snappy."""

from __future__ import annotations

from pyflink_on_spark._runtime.coders import DataInput

_IDENTIFIER = b"\xff\x06\x00\x00sNaPpY"
_COMPRESSED, _PLAIN, _FIRST_SKIPPED = 0, 1, 0x80
_CHECKSUM = 4
_MOST = 1 << 16


def decompressed(data: DataInput) -> DataInput:
    """Decompress the remaining bytes, as far as possible.

    Raises:
        CheckpointError: it is not of this format, or damaged.
    """
    begin = data.position
    if data.take(len(_IDENTIFIER)) != _IDENTIFIER:
        raise data.refused("the compressed state is damaged", begin)
    chunks = []
    while data.left:
        chunks += _chunk(data)
    return DataInput(b"".join(chunks), f"{data.where} (decompressed)")


def _chunk(data: DataInput) -> list[bytes]:
    begin = data.position
    if data.content.startswith(_IDENTIFIER, begin):
        data.position += len(_IDENTIFIER)
        return []
    kind = data.unsigned_byte()
    content = data.take(int.from_bytes(data.take(3), "little"))
    if kind == _PLAIN:
        return [content[_CHECKSUM:]]
    if kind == _COMPRESSED:
        import pyarrow as pa

        block = DataInput(content[_CHECKSUM:], data.where)
        size = block.varying()
        if size > _MOST:
            raise data.refused("a piece of compressed state is too large", begin)
        try:
            codec = pa.Codec("snappy")
            return [codec.decompress(block.content, decompressed_size=size, asbytes=True)]
        except (OSError, pa.ArrowException):
            raise data.refused("a piece of compressed state is damaged", begin) from None
    if kind >= _FIRST_SKIPPED:
        return []
    raise data.refused(f"a piece of compressed state is of the unknown kind {kind}", begin)
