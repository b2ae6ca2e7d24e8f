//! Small files of every format, which the fuzzers begin with. They lie in `fuzz/seeds/`; a test compares.

use super::graph_files::{element, full, mat, matrix, packed, sparse};
use super::image_files::{COLOUR, GREY, Packed, Tiff, bytes, png};
use super::input_files::{names, npy, numbers};
use super::signal_files::{Edf, cells, edf, onset, wav};
use std::path::Path;
use tenfold::engine::linalg::Mat;
use tenfold::model_file::ModelFile;
use tenfold::output::write_table;

/// A seed: the reader it is for, its name, its bytes.
pub type Seed = (&'static str, &'static str, Vec<u8>);

/// All seeds but models, the same on every machine.
pub fn all(folder: &Path) -> Vec<Seed> {
    let mut all = binary();
    all.extend(TEXT.iter().map(|(reader, name, text)| (*reader, *name, text.as_bytes().to_vec())));
    for (reader, text) in [("gzip", 0), ("zstd", 1)] {
        all.push((reader, "numbers", packed(b"a,b\n1,2\n3,4.5\n5,6e1\n")[text].clone()));
        all.push((reader, "edges", packed(b"1 2\n2 3\n3 1\n")[text].clone()));
        all.push((reader, "bomb", packed(&vec![b'1'; 1 << 18])[text].clone()));
    }
    all.extend(parquet(folder));
    all.extend([("arrow", "file", arrow(false)), ("arrow", "stream", arrow(true))]);
    let recipe = tenfold::topics::read::Recipe::default().to_json().to_string();
    all.push(("recipe", "default", recipe.into_bytes()));
    all
}

fn binary() -> Vec<Seed> {
    let values: Vec<u8> = (0..6).flat_map(|x| f64::from(x).to_le_bytes()).collect();
    let plain = matrix(6, 2, 3, "x", &[element(9, &values)]);
    let (windows, places) =
        (cells("signal", &[vec![1.0, 2.0], vec![3.0]]), cells("idx", &[vec![5.0, 6.0], vec![7.0]]));
    let (graph, info) = (
        sparse("A", 3, 3, &[(1, 0, 1.0), (2, 0, 1.0), (0, 1, 1.0), (0, 2, 3.0)]),
        full("local_info", 3, 7, &[1; 21]),
    );
    let signal = || Edf { label: "a", records: vec![vec![1, 2], vec![3, 4]] };
    let notes = Edf { label: "EDF Annotations", records: vec![onset("+0"), onset("+5")] };
    let beats = [28u16 << 10 | 18, 63 << 10 | 3, 0x4e28, 0, 1 << 10 | 5, 59 << 10, 1, 5, 5 << 10 | 9, 0];
    let cube: Vec<u8> = numbers(4, 2).as_slice().iter().flat_map(|x| x.to_le_bytes()).collect();
    let pixels: Vec<u8> = (0..7 * 5 * 8).map(|i| (i * 37) as u8).collect();
    use png::{BitDepth, ColorType};
    let labels: Vec<u8> = (0..35).map(|i| if i % 7 < 3 { 1 } else { 2 * u8::from(i > 14) }).collect();
    let mut all = vec![
        ("mat-graph", "plain", mat(&[graph.clone(), info.clone()], false)),
        ("mat-graph", "packed", mat(&[info, graph], true)),
        ("mat-signal", "array", mat(&[plain], true)),
        ("mat-signal", "windows", mat(&[places.clone(), windows.clone()], false)),
        ("mat-signal", "packed", mat(&[places, windows], true)),
        ("mat-events", "vector", mat(&[full("t", 1, 3, &[1, 5, 9])], true)),
        ("edf", "plain", edf("", 2, &[signal()])),
        ("edf", "annotated", edf("EDF+D", 2, &[signal(), notes])),
        ("wfdb-header", "record", super::readers::RECORD.to_vec()),
        ("wfdb-header", "short", b"w 1 360\nw.dat 16x2+4 200/mV\n# note\n".to_vec()),
        ("wfdb-signal", "samples", super::readers::SAMPLES.to_vec()),
        ("wfdb-annotation", "beats", beats.map(u16::to_le_bytes).concat()),
        ("npy", "rows", npy("'<f8'", "False", "(4, 2)", &cube)),
        ("npy", "columns", npy("'<f8'", "True", "(2, 2, 2)", &cube)),
        ("npy", "small", npy("'>i2'", "False", "(2, 4)", &cube[..16])),
        ("wav", "stereo", wav(2, 8000, &[1, 2, 3, 4, -5, 6])),
        ("png", "deep", png(7, 5, ColorType::Grayscale, BitDepth::Sixteen, &pixels[..70])),
        ("png", "colour", png(7, 5, ColorType::Rgba, BitDepth::Eight, &pixels[..140])),
        ("png", "palette", png(4, 1, ColorType::Indexed, BitDepth::Two, &[0b00_01_10_11])),
        ("mask", "labels", png(7, 5, ColorType::Grayscale, BitDepth::Eight, &labels)),
        ("jpeg", "grey", bytes(GREY)),
        ("jpeg", "colour", bytes(COLOUR)),
    ];
    let at = |x: usize, y: usize, c: usize| (x * 3 + y * 5 + c) as u64 % 256;
    for (name, tiff) in [
        ("plain", Tiff::default()),
        (
            "tiles",
            Tiff {
                tile: Some((16, 16)),
                packed: Packed::Deflate,
                bits: 16,
                big_endian: true,
                ..Tiff::default()
            },
        ),
        ("apart", Tiff { channels: 3, apart: true, packed: Packed::Bits, ..Tiff::default() }),
        ("pages", Tiff { bits: 32, pages: 2, ..Tiff::default() }),
    ] {
        all.push(("tiff", name, Tiff { width: 9, height: 7, ..tiff }.write(&at)));
    }
    let mut words = b"2 3\nship ".to_vec();
    words.extend([0.5f32, -1.0, 2.0].iter().flat_map(|x| x.to_le_bytes()));
    words.extend(b"harbour ");
    words.extend([1.5f32, 0.0, 1e-3].iter().flat_map(|x| x.to_le_bytes()));
    all.push(("vectors", "binary", words));
    all
}

/// Written by the library itself: numbers, and a table with words in it.
fn parquet(folder: &Path) -> Vec<Seed> {
    let path = folder.join("x.parquet");
    write_table(&path, &names(2), &numbers(6, 2)).unwrap();
    let plain = std::fs::read(&path).unwrap();
    let tissue = "image,gene,x,y,r1,r2,intensity\na,A,1,2,3,2,5\na,A,4,5,6,5,7\nb,B,1,1,1,1,1\n";
    let csv = folder.join("x.csv");
    std::fs::write(&csv, tissue).unwrap();
    let silent = tenfold::engine::progress::Silent;
    let read = tenfold::cells::table::read(&csv, &Default::default(), &silent).unwrap();
    tenfold::cells::table::write(&path, &read.tissue, &silent).unwrap();
    vec![("parquet", "numbers", plain), ("parquet", "cells", std::fs::read(&path).unwrap())]
}

/// Categories, numbers and a missing value, in a file and in a stream.
fn arrow(stream: bool) -> Vec<u8> {
    use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
    use arrow_ipc::writer::{FileWriter, StreamWriter};
    use std::sync::Arc;
    let columns: [(&str, ArrayRef); 3] = [
        ("a", Arc::new(StringArray::from(vec![Some("yes"), Some("no"), None]))),
        ("b", Arc::new(Float64Array::from(vec![1.5, 2.5, 3.5]))),
        ("c", Arc::new(Int32Array::from(vec![1, 2, 1]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut out = Vec::new();
    if stream {
        let mut writer = StreamWriter::try_new(&mut out, &batch.schema()).unwrap();
        writer.write(&batch).and_then(|()| writer.finish()).unwrap();
    } else {
        let mut writer = FileWriter::try_new(&mut out, &batch.schema()).unwrap();
        writer.write(&batch).and_then(|()| writer.finish()).unwrap();
    }
    out
}

/// Small models of every application.
pub fn models() -> Vec<Seed> {
    let signals = tenfold::ica::Synth { samples: 500, columns: 3, sources: 2, ..Default::default() }.draw();
    let ica = tenfold::ica::Params::new(2).fit(&signals.samples);
    let corpus = tenfold::topics::Synth { documents: 200, words: 12, k: 2, ..Default::default() }
        .draw()
        .unwrap()
        .corpus;
    let topics = tenfold::topics::Params::new(2).fit(&corpus);
    let graph = tenfold::communities::Synth { nodes: 30, k: 2, ..Default::default() }.draw().unwrap().graph;
    let communities = tenfold::communities::Params::new(2).fit(&graph);
    let shapes = [[3.0, -1.0, 2.0, 0.5], [1.0, 2.0, -2.0, 1.0]];
    let (mut x, mut random) = (vec![0.0; 600], super::input_files::Spoil::new(7));
    for t in 0..x.len() - 4 {
        for shape in shapes.iter().filter(|_| random.next() % 16 == 0).copied().collect::<Vec<_>>() {
            shape.iter().enumerate().for_each(|(i, s)| x[t + i] += s);
        }
    }
    use tenfold::motifs::{Extent, Length, Signals};
    let length = Length::Known(Extent::line(4));
    let motifs = tenfold::motifs::Params { length, ..tenfold::motifs::Params::new(2) }
        .fit(&Signals::windows(&x, x.len(), false));
    use tenfold::sentences::{Cooccurrence, Cutting, Params, Search, Text, Words};
    let lines: Vec<String> = (0..60)
        .map(|i| format!("the {} ship sails to the {} harbour", ["old", "new"][i % 2], i % 3))
        .collect();
    let learned = Cooccurrence { dimensions: 3, ..Cooccurrence::default() };
    let templates = Search { count: 2, ..Search::default() };
    let sentences = Params { words: Words::Learned(learned), templates, ..Params::default() }
        .fit(&Text::new(&lines, &Cutting::default(), 1).unwrap());
    let table =
        tenfold::trees::Synth { variables: 5, samples: 400, ..Default::default() }.draw().unwrap().table;
    let trees = tenfold::trees::Params { bootstrap: 0, ..tenfold::trees::Params::new(2) }.fit(&table);
    let tissue =
        tenfold::cells::Synth { types: 2, genes: 5, cells: 300, ..Default::default() }.draw().unwrap().tissue;
    let cells = tenfold::cells::Params::new(2).fit(&tissue);
    let mut tensor = ModelFile::new("tensor", serde_json::json!({ "order": 3 }));
    tensor.insert_vector("weights", &[2.0, 1.25]);
    tensor.insert_matrix("factors", &Mat::from_vec(3, 2, vec![0.6, 0.0, 0.8, 0.0, 0.0, -1.0]));
    let mut sides = ModelFile::new("tensor", serde_json::json!({ "order": 3 }));
    sides.insert_vector("weights", &[2.0]);
    for (name, rows) in [("factors_1", 2), ("factors_2", 3), ("factors_3", 1)] {
        sides.insert_matrix(name, &Mat::from_fn(rows, 1, |i, _| f64::from(i == 0)));
    }
    vec![
        ("model-ica", "small", ica.unwrap().to_bytes().unwrap()),
        ("model-topics", "small", topics.unwrap().to_bytes().unwrap()),
        ("model-communities", "small", communities.unwrap().to_bytes().unwrap()),
        ("model-motifs", "small", motifs.unwrap().to_bytes().unwrap()),
        ("model-sentences", "small", sentences.unwrap().to_bytes().unwrap()),
        ("model-trees", "small", trees.unwrap().to_bytes().unwrap()),
        ("model-cells", "small", cells.unwrap().to_bytes().unwrap()),
        ("model-tensor", "small", tensor.to_bytes().unwrap()),
        ("model-tensor", "sides", sides.to_bytes().unwrap()),
    ]
}

/// Formats that are text.
const TEXT: &[(&str, &str, &str)] = &[
    (
        "gml",
        "named",
        "Creator \"x\"\ngraph [ directed 1\nnode [ id 1 label \"a\" value 3 ]\nnode [ id 2 label \"b &amp; c\" ]\nedge [ source 1 target 2 weight 2 ]\n]\n",
    ),
    (
        "graphml",
        "named",
        "<?xml version=\"1.0\"?><graphml><key id=\"k\" for=\"node\" attr.name=\"v\"/><graph edgedefault=\"directed\">\
        <node id=\"a\"><data key=\"k\">1</data></node><node id=\"b\"/><edge source=\"a\" target=\"b\"/></graph></graphml>",
    ),
    ("newick", "lengths", "((a:1,b:2)0.9:0.5,'c d':1e-1)[note];\n"),
    (
        "nexus",
        "translated",
        "#NEXUS\nbegin taxa; dimensions ntax=3; taxlabels a b 'c d'; end;\nbegin trees; translate 1 a, 2 b, 3 'c d'; tree x = [&U] ((1:1,2:2):0.5,3:1); end;\n",
    ),
    ("vectors", "glove", "ship 0.5 1\nharbour -1 2e-1\n"),
    ("vectors", "word2vec", "2 2\nship 0.5 1\nharbour -1 2e-1\n"),
    ("csv", "named", "x,y\n1,2\n3,-4.5e3\n\"5\",6\n"),
    ("csv", "gaps", "1,2\n3,NA\n,6\n"),
    ("text", "lines", "A fine film, truly.\n\nDull, alas; dull and long\nnaïve 日本語 text\n"),
    ("documents", "table", "id,text\n1,\"a b, b\"\n2,c \"\"a\"\"\n"),
    ("mallet", "lines", "one x a b b\ntwo y c a\n"),
    ("uci", "counts", "3\n4\n5\n1 1 2\n1 3 1\n2 2 7\n3 1 1\n3 4 9\n"),
    ("lda-c", "counts", "2 0:1 3:4\n0\n1 2:2\n"),
    (
        "matrix-market",
        "integer",
        "%%MatrixMarket matrix coordinate integer general\n%\n3 4 3\n1 1 2\n2 2 7\n3 4 9\n",
    ),
    (
        "matrix-market",
        "symmetric",
        "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n2 1\n3 2\n3 1\n",
    ),
    ("svmlight", "counts", "1 1:2 4:1 # c\n-1 2:3\n"),
    ("edges", "numbers", "# Undirected graph\n1 2 3\n2 3 1\n4 1 2.5\n"),
    ("edges", "names", "ann bob\nbob \"c d\"\n"),
    ("graph-table", "quoted", "source,target,weight\n\"a\",b,1\nb,\"c d\",2\n"),
    ("communities", "cover", "1 2 3\n3 4\n"),
    ("communities", "nodes", "node group\n1 red\n2 red\n3 blue\n4 blue\n"),
    ("communities", "members", "id,community,weight\n1,1,0.5\n1,2,0.5\n2,1,1\n"),
    ("events", "table", "time,motif,trial\n1,a,0\n2.5,\"b\",1\n"),
    ("variables", "mixed", "name,a,b,c\ns1,yes,1.5,3\ns2,no,2.5,\ns3,yes,NA,4\n"),
    ("codes", "events", "patient,code\n1,a\n2,b\n1,b\n3,\"a\"\n"),
    ("groups", "two", "code,group\na,first\nb,second\nc1,\"first, too\"\n"),
    ("fasta", "aligned", ">a one\nACGT-\nAC\n>b\nACGTN\nAA\n>c\nTTTTT\nTT\n"),
    ("phylip", "sequential", "3 5\nalpha     ACGTA\nbeta      ACGTT\ngamma     TT-TA\n"),
    (
        "region",
        "polygon",
        r#"{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,0]]]}}"#,
    ),
    ("rings", "rings", "x,y,ring\n0,0,a\n9,0,a\n9,9,a\n1,1,b\n2,1,b\n2,2,b\n"),
    ("rings", "maps", "image,a,b,c,d,e,f\nx.png,1,0,0,0,1,0\n"),
    ("rings", "genes", "image,gene\nx.png,Gad1\n"),
    (
        "cells",
        "table",
        "image,gene,x,y,r1,r2,orientation,intensity,neighbours\na.png,\"G,1\",1.5,2,3,2,0.5,40,1\nb,H,1e2,-2,2,3,,NaN,0\n",
    ),
    ("cells", "aliases", "gene,Centroid X,Centroid Y,Area\nA,1,2,30\nB,4,5,\n"),
    ("expression", "rows", "gene,c1,c2,c3\nGad1,1,0,3\nSst,0,2.5,1\n"),
];
