//! Small images of every format.
#![allow(dead_code, reason = "every test file uses its own part of this")]

use std::io::Write;

/// How the parts of a TIFF are packed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Packed {
    No,
    Deflate,
    Bits,
}

/// A TIFF by hand, because no writer at hand makes tiles.
#[derive(Debug, Clone, Copy)]
pub struct Tiff {
    pub width: usize,
    pub height: usize,
    pub channels: usize,
    /// 8, 16 or 32.
    pub bits: usize,
    /// Columns and rows of a tile; without them there are strips of three rows.
    pub tile: Option<(usize, usize)>,
    /// Every channel on its own.
    pub apart: bool,
    pub packed: Packed,
    pub big_endian: bool,
    pub pages: usize,
}

impl Default for Tiff {
    fn default() -> Self {
        let (packed, big_endian) = (Packed::No, false);
        Self {
            width: 20,
            height: 17,
            channels: 1,
            bits: 8,
            tile: None,
            apart: false,
            packed,
            big_endian,
            pages: 1,
        }
    }
}

impl Tiff {
    fn number(&self, value: u64, bytes: usize) -> Vec<u8> {
        let all = value.to_le_bytes();
        if self.big_endian { all[..bytes].iter().rev().copied().collect() } else { all[..bytes].to_vec() }
    }

    fn pack(&self, bytes: &[u8]) -> Vec<u8> {
        match self.packed {
            Packed::No => bytes.to_vec(),
            Packed::Deflate => {
                let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
                out.write_all(bytes).unwrap();
                out.finish().unwrap()
            }
            // Runs of literals.
            Packed::Bits => bytes
                .chunks(128)
                .flat_map(|run| [vec![(run.len() - 1) as u8], run.to_vec()].concat())
                .collect(),
        }
    }

    /// The parts in their order.
    fn parts(&self, at: &dyn Fn(usize, usize, usize) -> u64) -> Vec<Vec<u8>> {
        let (columns, rows) = self.tile.unwrap_or((self.width, 3));
        let mut parts = Vec::new();
        for plane in 0..if self.apart { self.channels } else { 1 } {
            for top in (0..self.height).step_by(rows) {
                for left in (0..self.width).step_by(columns) {
                    // Tiles are whole, the last strip is not.
                    let last = if self.tile.is_some() { top + rows } else { (top + rows).min(self.height) };
                    let mut bytes = Vec::new();
                    for y in top..last {
                        for x in left..left + columns {
                            for c in if self.apart { plane..plane + 1 } else { 0..self.channels } {
                                let inside = x < self.width && y < self.height;
                                bytes
                                    .extend(self.number(if inside { at(x, y, c) } else { 0 }, self.bits / 8));
                            }
                        }
                    }
                    parts.push(self.pack(&bytes));
                }
            }
        }
        parts
    }

    /// The file, with the sample of a place and channel.
    pub fn write(&self, at: &dyn Fn(usize, usize, usize) -> u64) -> Vec<u8> {
        let mut out = if self.big_endian { b"MM".to_vec() } else { b"II".to_vec() };
        out.extend(self.number(42, 2));
        for page in 0..self.pages {
            // Where the place of this page's directory goes.
            let link = out.len();
            out.extend([0; 4]);
            let parts = self.parts(at);
            let mut places = Vec::new();
            for part in &parts {
                places.push(out.len() as u64);
                out.extend(part);
            }
            let lists: Vec<u64> = [places, parts.iter().map(|p| p.len() as u64).collect()].concat();
            let list = out.len() as u64;
            lists.iter().for_each(|x| out.extend(self.number(*x, 4)));
            let n = parts.len() as u64;
            let bits = out.len() as u64;
            (0..self.channels).for_each(|_| out.extend(self.number(self.bits as u64, 2)));
            let directory = self.number(out.len() as u64, 4);
            out[link..link + 4].copy_from_slice(&directory);
            let packing = [1, 8, 32773][self.packed as usize];
            let photometric = if self.channels >= 3 { 2 } else { 1 };
            let (w, h, samples) = (self.width as u64, self.height as u64, self.channels as u64);
            let mut fields =
                vec![(256, 4, 1, w), (257, 4, 1, h), (259, 3, 1, packing), (262, 3, 1, photometric)];
            let one = |place: u64, value: u64| if n == 1 { value } else { place };
            let (first, length) = (one(list, lists[0]), one(list + 4 * n, lists[n as usize]));
            fields.push(if self.channels == 1 {
                (258, 3, 1, self.bits as u64)
            } else {
                (258, 3, samples, bits)
            });
            fields.extend([(277, 3, 1, samples), (284, 3, 1, if self.apart { 2 } else { 1 })]);
            match self.tile {
                Some((columns, rows)) => fields.extend([
                    (322, 4, 1, columns as u64),
                    (323, 4, 1, rows as u64),
                    (324, 4, n, first),
                    (325, 4, n, length),
                ]),
                None => fields.extend([(273, 4, n, first), (278, 4, 1, 3), (279, 4, n, length)]),
            }
            if self.channels == 2 || self.channels == 4 {
                fields.push((338, 3, 1, 2));
            }
            fields.sort_unstable();
            out.extend(self.number(fields.len() as u64, 2));
            for (tag, kind, count, value) in fields {
                out.extend(self.number(tag, 2));
                out.extend(self.number(kind, 2));
                out.extend(self.number(count, 4));
                let short = kind == 3 && count == 1;
                out.extend(self.number(value, if short { 2 } else { 4 }));
                out.extend(vec![0; if short { 2 } else { 0 }]);
            }
            if page + 1 == self.pages {
                out.extend([0; 4]);
            }
        }
        out
    }
}

/// A grey JPEG of 16 × 16 pixels: a dark spot at (5, 6) on light ground.
pub const GREY: &str = "ffd8ffe000104a46494600010100000100010000ffdb0043001b12141714111b1716171e1c1b2028422b28252528513a3d3042605565645f555d5b6a7899816a7190735b5d85b586909ea3abadab6780bcc9baa6c799a8aba4ffc0000b080010001001011100ffc400160001010100000000000000000000000000030405ffc40021100002010303050000000000000000000002030100041112214105133161f0ffda0008010100003f00a2ff00aa95b5d7696b8281c6bd5cf3b568a8e1aa060e70430519f746eb543cc4dab8221f133f6f4d5fffd9";

/// The same in colour, and progressive.
pub const COLOUR: &str = "ffd8ffe000104a46494600010100000100010000ffdb0043001b12141714111b1716171e1c1b2028422b28252528513a3d3042605565645f555d5b6a7899816a7190735b5d85b586909ea3abadab6780bcc9baa6c799a8aba4ffdb0043011c1e1e2823284e2b2b4ea46e5d6ea4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4ffc20011080010001003012200021101031101ffc400160001010100000000000000000000000000020104ffc4001501010100000000000000000000000000000203ffda000c030100021003100000019a0b93ffc400191001010003010000000000000000000000010203101221ffda0008010100010502bc9cd1e8c8ebffc40014110100000000000000000000000000000000ffda0008010301013f017fffc40014110100000000000000000000000000000000ffda0008010201013f017fffc4001810000203000000000000000000000000000011011021ffda0008010100063f024866c57fffc400191001010003010000000000000000000000011100103141ffda0008010100013f217838edc501ee3e344d7fffda000c0301000200030000001037ffc40014110100000000000000000000000000000000ffda0008010301013f107fffc40017110100030000000000000000000000000001001121ffda0008010201013f1052b27fffc4001c10010002010500000000000000000000000100116110213171f0ffda0008010100013f10a4e4a64ea0d828097981db80bedf4fffd9";

pub fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// A PNG of samples of 8 bits, or of 16 in two bytes.
pub fn png(width: u32, height: u32, colour: png::ColorType, depth: png::BitDepth, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    if colour == png::ColorType::Indexed {
        encoder.set_palette(vec![0, 0, 0, 200, 40, 90, 255, 255, 255, 9, 9, 9]);
    }
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    out
}
