//! Images, tables, masks and polygons from strangers: truncated, spoilt and lying. No panic, no large allocation.

mod image_files;
mod input_files;
mod readers;

use image_files::{COLOUR, GREY, Packed, Tiff, bytes, png};
use input_files::{Spoil, file, folder};
use readers::tissue::{image, region, table as check_table};
use std::path::Path;
use tenfold::cells::images::{Options, open};
use tenfold::cells::{Pixels, Window, table};
use tenfold::engine::progress::Silent;

/// Every prefix, and files spoilt by a seeded hand.
fn torment(name: &str, bytes: &[u8], check: impl Fn(&Path) -> bool) {
    let folder = folder();
    check(&file(&folder, name, bytes));
    for end in 0..bytes.len() {
        check(&file(&folder, name, &bytes[..end]));
    }
    let mut spoil = Spoil::new(bytes.len() as u64);
    for _ in 0..400 {
        check(&file(&folder, name, spoil.spoil(bytes)));
    }
}

#[test]
fn pngs() {
    use png::{BitDepth, ColorType};
    let data: Vec<u8> = (0..7 * 5 * 8).map(|i| (i * 37) as u8).collect();
    torment("a.png", &png(7, 5, ColorType::Grayscale, BitDepth::Sixteen, &data[..70]), image);
    torment("b.png", &png(7, 5, ColorType::Rgba, BitDepth::Eight, &data[..140]), image);
    torment("c.png", &png(4, 1, ColorType::Indexed, BitDepth::Two, &[0b00_01_10_11]), image);
}

#[test]
fn jpegs() {
    torment("a.jpg", &bytes(GREY), image);
    torment("b.jpg", &bytes(COLOUR), image);
}

#[test]
fn tiffs() {
    let at = |x: usize, y: usize, c: usize| (x * 3 + y * 5 + c) as u64 % 256;
    for tiff in [
        Tiff::default(),
        Tiff { tile: Some((16, 16)), packed: Packed::Deflate, bits: 16, big_endian: true, ..Tiff::default() },
        Tiff { channels: 3, apart: true, packed: Packed::Bits, ..Tiff::default() },
        Tiff { bits: 32, pages: 2, ..Tiff::default() },
    ] {
        torment("a.tif", &Tiff { width: 9, height: 7, ..tiff }.write(&at), image);
    }
}

/// Headers that promise much more than there is. Under the memory of the test all must end in an error at once.
#[test]
fn headers_that_lie_allocate_nothing() {
    let folder = folder();
    let large = Options { memory: 1 << 40, ..Options::default() };
    let refused = |path: &Path| match open(path, &large, &Silent) {
        // A TIFF may open, because its parts are looked at when they are asked for.
        Ok(image) => image.window(Window { x: 0, y: 0, width: 1, height: 1 }).map(|_| ()).is_err(),
        Err(_) => true,
    };
    let mut image = png(7, 5, png::ColorType::Grayscale, png::BitDepth::Eight, &[9; 35]);
    for (side, place) in [(0x7fff_ffffu32, 16), (0x7fff_ffff, 20), (0x000f_ffff, 16)] {
        image[place..place + 4].copy_from_slice(&side.to_be_bytes());
        let crc = crc32fast::hash(&image[12..29]);
        image[29..33].copy_from_slice(&crc.to_be_bytes());
        assert!(refused(&file(&folder, "a.png", &image)), "{side} at {place}");
    }
    let mut image = bytes(GREY);
    let frame = image.windows(2).position(|w| w == [0xff, 0xc0]).unwrap();
    image[frame + 5..frame + 9].fill(0xff);
    assert!(refused(&file(&folder, "a.jpg", &image)));
    for (width, height, tile) in [
        (9, 1 << 30, None),
        (1 << 30, 9, None),
        (1 << 16, 1 << 16, Some((1 << 16, 1 << 16))),
        (1 << 30, 1 << 30, Some((16, 16))),
    ] {
        // The pixels of a small image under the directory of a large one.
        let small = Tiff { width: 9, height: 7, tile: tile.map(|_| (16, 16)), ..Tiff::default() };
        let mut bytes = small.write(&|_, _, _| 3);
        for (tag, value) in [
            (256u16, width as u32),
            (257, height as u32),
            (278, u32::MAX),
            (322, tile.map_or(0, |t| t.0 as u32)),
            (323, tile.map_or(0, |t| t.1 as u32)),
        ] {
            let field = [&tag.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0]].concat();
            if let Some(at) = bytes.windows(8).position(|w| w == field) {
                bytes[at + 8..at + 12].copy_from_slice(&value.to_le_bytes());
            }
        }
        assert!(refused(&file(&folder, "a.tif", &bytes)), "{width} × {height}, {tile:?}");
    }
}

/// Found by the fuzzers: a count of numbers in the directory took 256 MiB before the file was looked at.
#[test]
fn directories_that_lie_are_refused_before_they_are_read() {
    let folder = folder();
    let at = |x: usize, y: usize, c: usize| (x + y + c) as u64;
    for (packed, big_endian) in [(Packed::No, false), (Packed::Bits, true)] {
        let tiff = Tiff { width: 9, height: 7, packed, big_endian, ..Tiff::default() };
        let honest = tiff.write(&at);
        assert!(open(&file(&folder, "a.tif", &honest), &Options::default(), &Silent).is_ok());
        // Rows of a strip: one number, which becomes eight million.
        let field = if big_endian { [1, 22, 0, 4, 0, 0, 0, 1] } else { [22, 1, 4, 0, 1, 0, 0, 0] };
        let short = if big_endian { [1, 22, 0, 3, 0, 0, 0, 1] } else { [22, 1, 3, 0, 1, 0, 0, 0] };
        let place = honest.windows(8).position(|w| w == field || w == short).unwrap();
        let mut lying = honest.clone();
        let count = if big_endian { 0x7f_0001u32.to_be_bytes() } else { 0x7f_0001u32.to_le_bytes() };
        lying[place + 4..place + 8].copy_from_slice(&count);
        let error = open(&file(&folder, "a.tif", &lying), &Options::default(), &Silent).err().unwrap();
        assert!(error.to_string().contains("promises 8323073 numbers under tag 278"), "{error}");
    }
}

#[test]
fn tables() {
    torment("a.csv", b"image,gene,x,y,r1,r2,orientation,intensity,neighbours\na.png,\"G,1\",1.5,2,3,2,0.5,40,1\nb,H,1e2,-2,2,3,,NaN,0\n", check_table);
    torment("a.tsv", b"gene\tCentroid X\tCentroid Y\tArea\nA\t1\t2\t30\nB\t4\t5\t\n", check_table);
    torment("a.csv", b"gene;x;y\nA;1;2\n", check_table);
    let folder = folder();
    let path = folder.path().join("c.parquet");
    let text = file(
        &folder,
        "c.csv",
        "image,gene,x,y,r1,r2,intensity\na,A,1,2,3,2,5\na,A,4,5,6,5,7\nb,B,1,1,1,1,1\n",
    );
    let read = table::read(&text, &table::Options::default(), &Silent).unwrap();
    table::write(&path, &read.tissue, &Silent).unwrap();
    torment("c.parquet", &std::fs::read(&path).unwrap(), check_table);
}

#[test]
fn regions_maps_and_names() {
    torment("a.csv", b"x,y,ring\n0,0,a\n9,0,a\n9,9,a\n1,1,b\n2,1,b\n2,2,b\n", region);
    torment(
        "a.geojson",
        br#"{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,0]]]}}"#,
        region,
    );
    torment("b.csv", b"image,a,b,c,d,e,f\nx.png,1,0,0,0,1,0\n", region);
    torment("c.csv", b"image,gene\nx.png,Gad1\n", region);
    torment("d.csv", b"1 0 5\n0 1 6\n0 0 1\n", region);
    let nested = "[".repeat(100_000);
    region(&file(&folder(), "deep.geojson", nested));
}
