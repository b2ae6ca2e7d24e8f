//! Images of every format come back as they were drawn, in any window.

mod image_files;

use image_files::{COLOUR, GREY, Packed, Tiff, bytes, png};
use std::path::{Path, PathBuf};
use tenfold::cells::images::{Image, Options, Polarity, Stain, open};
use tenfold::cells::{Pixels, Window};
use tenfold::engine::progress::Silent;

fn file(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn opened(path: &Path, stain: Stain, polarity: Polarity) -> Image {
    open(path, &Options { stain, polarity, ..Options::default() }, &Silent).unwrap_or_else(|e| panic!("{e}"))
}

fn values(image: &Image, window: Window) -> Vec<f32> {
    image.window(window).unwrap().values().to_vec()
}

/// Samples without a pattern.
fn sample(x: usize, y: usize, c: usize) -> u64 {
    ((x * 7919 + y * 104_729 + c * 1_299_709 + x * y * 31) % 65_521) as u64
}

#[test]
fn tiffs_of_every_layout_are_read_in_any_window() {
    let folder = tempfile::tempdir().unwrap();
    let mut tried = 0;
    for tile in [None, Some((16, 16)), Some((32, 16))] {
        for (bits, channels, apart) in
            [(8, 1, false), (16, 1, false), (8, 3, false), (16, 3, true), (8, 4, false), (32, 1, false)]
        {
            for (packed, big_endian) in [(Packed::No, false), (Packed::Deflate, true), (Packed::Bits, false)]
            {
                let tiff = Tiff {
                    width: 45,
                    height: 38,
                    tile,
                    bits,
                    channels,
                    apart,
                    packed,
                    big_endian,
                    ..Tiff::default()
                };
                let most = if bits == 8 { 256 } else { 65_536 };
                let at = |x, y, c| sample(x, y, c) % most;
                let path = file(&folder, "a.tif", &tiff.write(&at));
                for channel in 0..channels.min(3) {
                    let image = opened(&path, Stain::Channel(channel), Polarity::LightOnDark);
                    assert_eq!(image.size(), (45, 38));
                    for (x, y, width, height) in
                        [(0, 0, 45, 38), (44, 37, 1, 1), (13, 15, 20, 4), (16, 16, 16, 16), (3, 2, 1, 30)]
                    {
                        let expected: Vec<f32> = (y..y + height)
                            .flat_map(|y| (x..x + width).map(move |x| at(x, y, channel) as f32))
                            .collect();
                        assert_eq!(values(&image, Window { x, y, width, height }), expected, "{tiff:?}");
                        tried += 1;
                    }
                }
            }
        }
    }
    assert_eq!(tried, 3 * 3 * 5 * (1 + 1 + 3 + 3 + 3 + 1));
}

#[test]
fn lzw_is_read_and_many_threads_agree() {
    use rayon::prelude::*;
    use tiff::encoder::{Compression, TiffEncoder, colortype::Gray16};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("l.tif");
    let pixels: Vec<u16> = (0..300 * 200).map(|i| sample(i % 300, i / 300, 0) as u16 / 64).collect();
    let mut encoder =
        TiffEncoder::new(std::fs::File::create(&path).unwrap()).unwrap().with_compression(Compression::Lzw);
    let mut image = encoder.new_image::<Gray16>(300, 200).unwrap();
    image.rows_per_strip(7).unwrap();
    image.write_data(&pixels).unwrap();
    // So little memory that strips come and go.
    let options = Options { memory: 100_000, polarity: Polarity::LightOnDark, ..Options::default() };
    let image = open(&path, &options, &Silent).unwrap();
    (0..200usize).into_par_iter().for_each(|y| {
        let row = values(&image, Window { x: 0, y, width: 300, height: 1 });
        assert!(row.iter().zip(&pixels[y * 300..]).all(|(a, b)| *a == f32::from(*b)), "row {y}");
    });
}

#[test]
fn pngs_of_every_kind_are_read_also_when_memory_is_short() {
    use png::{BitDepth, ColorType};
    let folder = tempfile::tempdir().unwrap();
    let data: Vec<u8> = (0..30 * 20 * 8).map(|i| (i * 37 % 251) as u8).collect();
    let window = Window { x: 3, y: 5, width: 20, height: 9 };
    for (colour, channels) in
        [(ColorType::Grayscale, 1), (ColorType::GrayscaleAlpha, 2), (ColorType::Rgb, 3), (ColorType::Rgba, 4)]
    {
        for (depth, wide) in [(BitDepth::Eight, 1), (BitDepth::Sixteen, 2)] {
            let data = &data[..30 * 20 * channels * wide];
            let path = file(&folder, "a.png", &png(30, 20, colour, depth, data));
            let expected: Vec<f32> = (5..14)
                .flat_map(|y| (3..23).map(move |x| (y * 30 + x) * channels * wide))
                .map(|at| {
                    if wide == 1 {
                        f32::from(data[at])
                    } else {
                        f32::from(u16::from_be_bytes([data[at], data[at + 1]]))
                    }
                })
                .collect();
            for memory in [1 << 20, 100] {
                let stain = Stain::Channel(0);
                let options =
                    Options { stain, polarity: Polarity::LightOnDark, memory, ..Options::default() };
                let image = open(&path, &options, &Silent).unwrap();
                assert_eq!(values(&image, window), expected, "{colour:?} {depth:?} in {memory} bytes");
            }
        }
    }
    let path = file(&folder, "p.png", &png(4, 1, ColorType::Indexed, BitDepth::Two, &[0b00_01_10_11]));
    let image = opened(&path, Stain::Channel(1), Polarity::LightOnDark);
    assert_eq!(values(&image, Window { x: 0, y: 0, width: 4, height: 1 }), [0.0, 40.0, 255.0, 9.0]);
}

#[test]
fn jpegs_show_their_spot() {
    let folder = tempfile::tempdir().unwrap();
    for (name, hex, stain) in [("g.jpg", GREY, "brightness"), ("c.jpg", COLOUR, "density of the stain")] {
        let path = file(&folder, name, &bytes(hex));
        let image = opened(&path, Stain::Auto, Polarity::Auto);
        assert!(image.is_dark_on_light() && image.stain() == stain, "{}", image.describe());
        let plane = image.window(Window { x: 0, y: 0, width: 16, height: 16 }).unwrap();
        // The spot is bright now.
        assert!(
            plane.at(5, 6) > 3.0 * plane.at(13, 13).max(0.05),
            "{name}: {} {}",
            plane.at(5, 6),
            plane.at(13, 13)
        );
    }
}

#[test]
fn densities_are_those_of_beer_and_lambert() {
    let folder = tempfile::tempdir().unwrap();
    // Background 239, and a stain that lets .5, .25 and 1 of the light through for every unit; 0, 1 and 2 units.
    let dose = |x: usize, y: usize| {
        if x.abs_diff(20) + y.abs_diff(20) < 8 {
            2.0
        } else if x > 30 {
            1.0
        } else {
            0.0
        }
    };
    let at = |x: usize, y: usize, c: usize| {
        let through = [0.5f64, 0.25, 1.0][c].powf(dose(x, y));
        (240.0 * through - 1.0).round() as u64
    };
    for bits in [8, 16] {
        let scale = if bits == 8 { 1 } else { 257 };
        let tiff = Tiff { width: 40, height: 40, channels: 3, bits, ..Tiff::default() };
        let path = file(&folder, "d.tif", &tiff.write(&|x, y, c| at(x, y, c) * scale));
        let image = opened(&path, Stain::Auto, Polarity::Auto);
        let plane = image.window(Window { x: 0, y: 0, width: 40, height: 40 }).unwrap();
        // The direction is (log 2, log 4, 0) = (1, 2, 0)/3 with sum 1: its density is (log₁₀ 2 + 2 log₁₀ 4)/3 for every unit.
        let unit = (2f64.log10() + 2.0 * 4f64.log10()) / 3.0;
        for (x, y) in [(20, 20), (35, 5), (2, 2)] {
            let found = f64::from(plane.at(x, y));
            // Rounding to counts changes a density by half a count of 15, at the darkest.
            assert!((found - unit * dose(x, y)).abs() < 0.03, "{bits} bits: {found} at ({x}, {y})");
        }
    }
}

#[test]
fn what_cannot_be_read_is_told_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let said = |path: &Path, options: &Options| match open(path, options, &Silent) {
        Ok(_) => panic!("{} should be refused", path.display()),
        Err(error) => error.to_string(),
    };
    let all = Options::default();
    assert!(said(&folder.path().join("none.png"), &all).contains("there is no such file"));
    assert!(said(&file(&folder, "empty.png", b""), &all).contains("is empty"));
    assert!(
        said(&file(&folder, "x.png", b"GIF89a...."), &all).contains("known types are PNG, JPEG and TIFF")
    );
    let one = Tiff { width: 900, height: 3, ..Tiff::default() };
    let path = file(&folder, "strip.tif", &one.write(&|x, _, _| x as u64 % 256));
    let short = Options { memory: 4000, ..Options::default() };
    let error = said(&path, &short);
    assert!(error.contains("can only be read as a whole") && error.contains("tiles of 256 × 256"), "{error}");
    let error = said(&path, &Options { stain: Stain::Channel(1), ..Options::default() });
    assert!(error.contains("has 1 channels, and number 2 was asked for"), "{error}");
    let pages = file(&folder, "pages.tif", &Tiff { pages: 3, ..Tiff::default() }.write(&sample_byte));
    assert!(open(&pages, &all, &Silent).unwrap().notes()[0].contains("several pages"));
}

fn sample_byte(x: usize, y: usize, c: usize) -> u64 {
    sample(x, y, c) % 256
}

#[test]
fn real_images_are_understood() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("TENFOLD_DATA").map_or(beside, PathBuf::from).join("cells");
    if !folder.is_dir() {
        eprintln!("skipped: real images need ../shared/data/cells");
        return;
    }
    for (name, dark, size) in [
        ("001cell.png", false, (256, 256)),
        ("BM_GRAZ_HE_0001_01_000.png", true, (600, 600)),
        ("allen_ish_crop.jpg", true, (596, 378)),
    ] {
        let image = opened(&folder.join(name), Stain::Auto, Polarity::Auto);
        assert_eq!((image.is_dark_on_light(), image.size()), (dark, size), "{}", image.describe());
    }
}
