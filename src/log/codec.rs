//! Compressed blocks, unpacked to the size that they announce and no further.

use std::io::Read;

/// What a block is compressed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    None,
    Snappy,
    Gzip,
    Brotli,
    Zstd,
    /// One LZ4 block.
    Lz4,
    /// LZ4 in frames.
    Lz4Frames,
    /// What Parquet once called LZ4: blocks with their sizes before them, frames, or one block.
    Lz4Old,
}

impl Codec {
    /// The content of a block that says to have this size.
    ///
    /// # Errors
    /// Where it is no such block, or has another size. No more than `size` bytes and one are made.
    pub(super) fn unpacked(self, block: &[u8], size: usize) -> Result<Vec<u8>, &'static str> {
        let unpacked = match self {
            Codec::None => Some(block.to_vec()),
            Codec::Snappy => snappy(block, size),
            Codec::Gzip => read(flate2::read::MultiGzDecoder::new(block), size),
            Codec::Brotli => read(brotli_decompressor::Decompressor::new(block, 1 << 12), size),
            Codec::Zstd => zstd::bulk::decompress(block, size).ok(),
            Codec::Lz4 => lz4(block, size),
            Codec::Lz4Frames => read(lz4_flex::frame::FrameDecoder::new(block), size),
            Codec::Lz4Old => sized_blocks(block, size)
                .or_else(|| read(lz4_flex::frame::FrameDecoder::new(block), size))
                .or_else(|| lz4(block, size)),
        };
        let whole = unpacked.filter(|bytes| bytes.len() == size);
        whole.ok_or("a compressed block does not hold what it says")
    }
}

fn read(reader: impl Read, size: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    reader.take(size as u64 + 1).read_to_end(&mut out).ok()?;
    Some(out)
}

fn snappy(block: &[u8], size: usize) -> Option<Vec<u8>> {
    if snap::raw::decompress_len(block).ok()? != size {
        return None;
    }
    snap::raw::Decoder::new().decompress_vec(block).ok()
}

fn lz4(block: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut out = vec![0; size];
    let length = lz4_flex::block::decompress_into(block, &mut out).ok()?;
    (length == size).then_some(out)
}

/// Blocks, before each the size of its content and its own, both of four bytes, the first one first.
fn sized_blocks(mut rest: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    while !rest.is_empty() {
        let mut number = || -> Option<usize> {
            let (bytes, after) = rest.split_first_chunk()?;
            rest = after;
            usize::try_from(u32::from_be_bytes(*bytes)).ok()
        };
        let (content, length) = (number()?, number()?);
        let (block, after) = rest.split_at_checked(length)?;
        rest = after;
        if content > size - out.len() {
            return None;
        }
        out.extend(lz4(block, content)?);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn blocks_hold_what_they_say_and_no_more_is_made() {
        let text = b"probabilities, probabilities, probabilities".repeat(9);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).unwrap();
        let mut frames = lz4_flex::frame::FrameEncoder::new(Vec::new());
        frames.write_all(&text).unwrap();
        let frames = frames.finish().unwrap();
        let block = lz4_flex::block::compress(&text);
        let sizes = [text.len(), block.len()].map(|n| (n as u32).to_be_bytes());
        let sized = [&sizes[0][..], &sizes[1], &block].concat();
        // Forty letters a, by pyarrow 26.0.1 (`pa.compress`).
        let brotli = [27, 39, 0, 0, 36, 194, 194, 153, 64, 2];
        for (codec, bytes, want) in [
            (Codec::None, text.clone(), &text[..]),
            (
                Codec::Snappy,
                snap::raw::Encoder::new().compress_vec(&text).unwrap(),
                &text,
            ),
            (Codec::Gzip, gzip.finish().unwrap(), &text),
            (Codec::Zstd, zstd::bulk::compress(&text, 1).unwrap(), &text),
            (Codec::Brotli, brotli.to_vec(), &[b'a'; 40]),
            (Codec::Lz4, block.clone(), &text),
            (Codec::Lz4Frames, frames.clone(), &text),
            (Codec::Lz4Old, frames, &text),
            (Codec::Lz4Old, block, &text),
            (Codec::Lz4Old, sized, &text),
        ] {
            assert_eq!(
                codec.unpacked(&bytes, want.len()).as_deref(),
                Ok(want),
                "{codec:?}"
            );
            for size in [0, want.len() - 1, want.len() + 1] {
                assert!(codec.unpacked(&bytes, size).is_err(), "{codec:?} {size}");
            }
            if codec != Codec::None {
                for cut in 0..bytes.len() {
                    let _ = codec.unpacked(&bytes[..cut], want.len());
                }
            }
        }
    }
}
