//! Matlab files with a matrix of links, as those of Facebook100: `A`, and attributes in `local_info`.

use super::market::bears_out;
use super::{ReadOptions, fail};
use crate::communities::data::{
    Attributes, Edges, Gathered, Ids, Kind, MEND_WEIGHT, PIECE, Told, Weights, weight,
};
use crate::error::{Error, Result};
use crate::input::Source;
use crate::input::mat::{CUT, Class, Stream, Variable, each_variable};
use tenfold_engine::progress::{Progress, Silent};

/// What the columns of `local_info` in the Facebook100 files hold.
const FACEBOOK: [&str; 7] =
    ["student_fac", "gender", "major_index", "second_major", "dorm", "year", "high_school"];

/// Columns of a full matrix that are taken for attributes; wider ones are something else.
const MOST_ATTRIBUTES: u64 = 64;

pub(super) fn read(source: &Source, options: &ReadOptions, progress: &dyn Progress) -> Result<Gathered> {
    let mut variables = Vec::new();
    each_variable(source, &Silent, |variable, _| {
        variables.push(variable);
        Ok(())
    })?;
    let chosen = choose(source, &variables, options)?;
    if chosen.complex {
        let problem = format!("has complex numbers in matrix {:?}", chosen.name);
        return Err(fail(
            source.path(),
            problem,
            "links are real numbers: save abs of it, or another matrix",
        ));
    }
    if chosen.rows == 0 || chosen.cols == 0 || chosen.rows.max(chosen.cols) > 1 << 31 {
        let problem =
            format!("has a matrix {:?} of {} × {}, which is no graph", chosen.name, chosen.rows, chosen.cols);
        return Err(fail(source.path(), problem, "save a matrix with a row and a column for every node"));
    }
    let square = chosen.rows == chosen.cols;
    let apart = !square || options.kind == Some(Kind::Bipartite);
    let nodes = chosen.rows + if apart { chosen.cols } else { 0 };
    source.begin(progress);
    let (mut entries, mut attributes) = (Entries::default(), Attributes::default());
    each_variable(source, progress, |variable, stream| {
        if variable.place == chosen.place {
            return match variable.class {
                Class::Sparse => entries.sparse(source, &variable, nodes, stream),
                _ => entries.full(source, &variable, stream),
            };
        }
        let beside = variable.class == Class::Full && variable.rows == chosen.rows && !variable.complex;
        if beside && (1..=MOST_ATTRIBUTES).contains(&variable.cols) {
            read_attributes(&variable, stream, &mut attributes)?;
        }
        Ok(())
    })?;
    let ids = |count: u64| Ids::counted(1, count as usize);
    let mut gathered = Gathered::new(ids(chosen.rows), entries.edges, Some(entries.weights));
    gathered.others = apart.then(|| ids(chosen.cols));
    gathered.declared = true;
    gathered.attributes = attributes.settled(Some);
    let by = "as its matrix is not square";
    gathered.told = (!square).then_some(Told { kind: Kind::Bipartite, by, sure: true });
    let name = &chosen.name;
    gathered.notes.push(format!("links from matrix {name}; nodes are called by their rows, counted from 1"));
    Ok(gathered)
}

/// The matrix that is asked for, the only sparse one, `A`, or the only full one that is square.
fn choose<'a>(source: &Source, variables: &'a [Variable], options: &ReadOptions) -> Result<&'a Variable> {
    let sparse: Vec<&Variable> = variables.iter().filter(|v| v.class == Class::Sparse).collect();
    let is_square = |v: &&Variable| v.class == Class::Full && v.rows == v.cols && v.rows > 1;
    let square: Vec<&Variable> = variables.iter().filter(is_square).collect();
    let named = |name: &str, among: &[&'a Variable]| among.iter().copied().find(|v| v.name == name);
    let found = match (&options.matrix, &sparse[..], &square[..]) {
        (Some(name), ..) => named(name, &sparse)
            .or_else(|| variables.iter().find(|v| v.name == *name && v.class == Class::Full)),
        (None, [only], _) | (None, [], [only]) => Some(*only),
        (None, [], _) => named("A", &square),
        (None, ..) => named("A", &sparse),
    };
    found.ok_or_else(|| {
        let held: Vec<String> =
            variables.iter().take(20).map(|v| format!("{} ({} × {})", v.name, v.rows, v.cols)).collect();
        let problem = match (&options.matrix, sparse.len() + square.len()) {
            (Some(name), _) => format!("has no matrix {name:?}"),
            (None, 0) => "holds no matrix of links".into(),
            (None, _) => "holds several matrices".into(),
        };
        let held = if held.is_empty() { "no variables".into() } else { held.join(", ") };
        fail(source.path(), format!("{problem}; it holds {held}"), "name the matrix of links with --matrix")
    })
}

/// Places of a matrix that are not 0.
#[derive(Default)]
struct Entries {
    edges: Edges,
    weights: Weights,
}

impl Entries {
    fn push(&mut self, edge: (u32, u32), weight: f32) {
        if self.edges.last().is_none_or(|piece| piece.len() == PIECE) {
            self.edges.push(Vec::new());
            self.weights.push(Vec::new());
        }
        self.edges.last_mut().into_iter().for_each(|piece| piece.push(edge));
        self.weights.last_mut().into_iter().for_each(|piece| piece.push(weight));
    }

    /// Rows of all entries, where each column begins among them, and their values.
    fn sparse(
        &mut self,
        source: &Source,
        variable: &Variable,
        nodes: u64,
        stream: &mut Stream,
    ) -> Result<()> {
        let damaged = |problem: &str| -> Error {
            fail(source.path(), format!("has a sparse matrix {:?} {problem}", variable.name), CUT)
        };
        let mut rows: Vec<u32> = Vec::new();
        stream.numbers(|row| {
            if !(0.0..variable.rows as f64).contains(&row) {
                return Err(damaged("with rows outside it"));
            }
            rows.push(row as u32);
            Ok(())
        })?;
        // A small file may promise any number of columns.
        if !bears_out(nodes, rows.len() as u64) {
            return Err(damaged("with far more nodes than links"));
        }
        let mut starts: Vec<u32> = Vec::new();
        stream.numbers(|start| {
            let falls = starts.last().is_some_and(|last| f64::from(*last) > start);
            let inside = (0.0..=rows.len() as f64).contains(&start);
            if falls || !inside || starts.len() as u64 > variable.cols {
                return Err(damaged("whose columns contradict one another"));
            }
            starts.push(start as u32);
            Ok(())
        })?;
        if starts.len() as u64 != variable.cols + 1 || starts[0] != 0 {
            return Err(damaged("whose columns contradict one another"));
        }
        let (mut column, mut entry) = (0, 0u32);
        let count = starts[starts.len() - 1];
        stream.numbers(|value| {
            if entry == count {
                return Ok(());
            }
            while starts[column + 1] <= entry {
                column += 1;
            }
            let edge = (rows[entry as usize], column as u32);
            entry += 1;
            let kept =
                weight(value).map_err(|problem| bad_weight(source, variable, edge, (value, problem)))?;
            self.push(edge, kept);
            Ok(())
        })?;
        if entry < count { Err(damaged("with fewer values than places")) } else { Ok(()) }
    }

    /// All places, column by column.
    fn full(&mut self, source: &Source, variable: &Variable, stream: &mut Stream) -> Result<()> {
        let (mut at, count) = (0u64, variable.rows * variable.cols);
        stream.numbers(|value| {
            let edge = ((at % variable.rows) as u32, (at / variable.rows) as u32);
            at += 1;
            if value != 0.0 && at <= count {
                let kept =
                    weight(value).map_err(|problem| bad_weight(source, variable, edge, (value, problem)))?;
                self.push(edge, kept);
            }
            Ok(())
        })?;
        if at == count {
            Ok(())
        } else {
            Err(stream.damaged("holds a matrix with too few or too many values"))
        }
    }
}

fn bad_weight(source: &Source, variable: &Variable, edge: (u32, u32), found: (f64, &str)) -> Error {
    let (name, (row, column), (value, problem)) = (&variable.name, (edge.0 + 1, edge.1 + 1), found);
    fail(source.path(), format!("{name}({row}, {column}) = {value}: the weight {problem}"), MEND_WEIGHT)
}

/// A full matrix with a row for every node: its columns are attributes.
fn read_attributes(variable: &Variable, stream: &mut Stream, attributes: &mut Attributes) -> Result<()> {
    let names: Vec<String> = match (variable.name.as_str(), variable.cols) {
        ("local_info", 7) => FACEBOOK.map(str::to_owned).to_vec(),
        (name, 1) => vec![name.to_owned()],
        (name, count) => (1..=count).map(|j| format!("{name}{j}")).collect(),
    };
    let mut at = 0u64;
    stream.numbers(|value| {
        let (row, column) = (at % variable.rows, (at / variable.rows) as usize);
        if let Some(name) = names.get(column) {
            attributes.set(row as u32, name, &value.to_string());
        }
        at += 1;
        Ok(())
    })
}
