//! One node: from moments of its views to what each of its states looks like, up to the order of the states.

use super::moments::{PAIRS, Pairs};
use super::views::Local;
use crate::error::Result;
use tenfold_engine::decompose::{Simultaneous, Solver};
use tenfold_engine::linalg::{Mat, eigen_symmetric, pinv, svd};
use tenfold_engine::progress::Silent;
use tenfold_engine::tensor::{Dense, Tensor3};

/// Directions of a view with less than this share of its largest variance count as none.
const FLAT: f64 = 1e-6;

/// Shared directions weaker than this many standard errors (1/√N) are noise; a node that needs one cannot be decomposed.
const NOISE: f64 = 2.0;

/// The least probability of a state at the start, times the number of states.
const LEAST_STATE: f64 = 0.1;

/// Coordinates of the views of a node, and their moments.
pub(super) struct Whitened {
    /// y = Pᵀ(x, 1): E[y yᵀ] = I; as many coordinates as states, or fewer where a view has fewer features.
    pub projections: Vec<Mat>,
    /// E[y_g y_hᵀ].
    cross: Vec<Vec<Mat>>,
    mean: Vec<Vec<f64>>,
    /// The weakest of the directions that any two views share, in standard errors.
    pub strength: f64,
}

/// What the states of a node look like in its views.
pub(super) struct States {
    /// E[y | state], coordinates × states, for every view.
    pub views: Vec<Mat>,
    /// P(state).
    pub weights: Vec<f64>,
    /// Whether the third moments said which rotation is right; otherwise the one that makes all states equally likely.
    pub decomposed: bool,
}

impl Whitened {
    pub fn new(local: &Local, pairs: &Pairs) -> Result<Self> {
        let count = local.views.len();
        let mut roots = Vec::new();
        let mut mean = Vec::new();
        for g in 0..count {
            let mut auto = pairs.of[g].clone().expect("every view with itself");
            let last = auto.cols() - 1;
            // The constant is 1 also where no sample was complete.
            auto[(last, last)] = 1.0;
            mean.push(auto.col(last));
            roots.push(inverse_root(&auto)?);
        }
        if local.shown {
            return Ok(Self::shown(local, &mean[0]));
        }
        let of = |g: usize, h: usize| -> Mat {
            let at = PAIRS.iter().position(|&p| p == (g.min(h), g.max(h))).expect("a pair of views");
            let m = pairs.of[at].as_ref().expect("views that are there");
            if g < h { m.clone() } else { m.transpose() }
        };
        let mut projections = Vec::new();
        for g in 0..count {
            let mut energy = Mat::zeros(roots[g].cols(), roots[g].cols());
            for h in (0..count).filter(|&h| h != g) {
                let shared = roots[g].tr_matmul(&of(g, h)).matmul(&roots[h]);
                energy.add_scaled(1.0, &shared.matmul_tr(&shared));
            }
            let directions = eigen_symmetric(&energy)?.vectors;
            projections.push(roots[g].matmul(&directions.first_cols(local.k.min(directions.cols()))));
        }
        let mean: Vec<Vec<f64>> =
            mean.iter().zip(&projections).map(|(m, p)| p.transpose().matvec(m)).collect();
        let mut strength = f64::INFINITY;
        let mut cross = vec![Vec::new(); count];
        for g in 0..count {
            for h in 0..count {
                let c = if g == h {
                    Mat::identity(projections[g].cols())
                } else {
                    projections[g].tr_matmul(&of(g, h)).matmul(&projections[h])
                };
                let weakest = svd(&c)?.s.get(local.k - 1).copied().unwrap_or(0.0);
                strength = f64::min(strength, weakest * pairs.samples.sqrt());
                cross[g].push(c);
            }
        }
        Ok(Self { projections, cross, mean, strength })
    }

    /// A variable that shows the state: its coordinates are its levels.
    fn shown(local: &Local, mean: &[f64]) -> Self {
        let d = local.k;
        let projection = Mat::from_fn(d, d, |i, level| match (i + 1 == d, level) {
            (true, 0) => 1.0,
            (false, 0) => -1.0,
            (false, level) if level == i + 1 => 1.0,
            _ => 0.0,
        });
        let mean = projection.transpose().matvec(mean);
        Self { projections: vec![projection], cross: Vec::new(), mean: vec![mean], strength: f64::INFINITY }
    }

    /// The states, by one decomposition of the third moments.
    pub fn states(&self, local: &Local, triple: Option<&Dense>, seed: u64) -> Result<States> {
        let k = local.k;
        if local.shown {
            let weights = floored(self.mean[0].clone());
            return Ok(States { views: vec![Mat::identity(k)], weights, decomposed: true });
        }
        if local.views.is_empty() {
            return Ok(States { views: Vec::new(), weights: vec![1.0 / k as f64; k], decomposed: k == 1 });
        }
        // The view that is seen clearest through the others is the one the tensor is made symmetric in.
        let c = (0..local.views.len())
            .max_by_key(|&g| (self.projections[g].cols(), std::cmp::Reverse(g)))
            .expect("a view");
        let (whiten, unwhiten) = whitening(&self.second(c)?)?;
        let centre = whiten.transpose().matvec(&self.mean[c]);
        let full = unwhiten.cols() == k && self.strength > NOISE;
        let rotation = match triple {
            Some(triple) if full => Some(self.rotation(c, triple, &whiten, seed)?),
            _ => None,
        };
        let decomposed = rotation.is_some();
        let rotation = match rotation {
            Some(rotation) => rotation,
            None => even_rotation(&centre, k),
        };
        // Columns of B = √π_s E[y | s], and B √π = E[y].
        let mut columns = unwhiten.matmul(&rotation);
        let mut roots = rotation.transpose().matvec(&centre);
        let signs: Vec<f64> = roots.iter().map(|r| if *r < 0.0 { -1.0 } else { 1.0 }).collect();
        columns.scale_cols(&signs);
        roots.iter_mut().for_each(|r| *r = r.abs());
        let weights = floored(roots.iter().map(|r| r * r).collect());
        columns.scale_cols(&weights.iter().map(|w| 1.0 / w.sqrt()).collect::<Vec<_>>());
        let back = pinv(&columns.transpose(), 1e-6)?;
        let views = (0..local.views.len())
            .map(|g| {
                if g == c {
                    return columns.clone();
                }
                let mut seen = self.cross[g][c].matmul(&back);
                seen.scale_cols(&weights.iter().map(|w| 1.0 / w).collect::<Vec<_>>());
                seen
            })
            .collect();
        Ok(States { views, weights, decomposed })
    }

    /// Σ_s π_s E[y_c | s] E[y_c | s]ᵀ, from views that are independent given s: C_ca C_ba⁻¹ C_bc.
    fn second(&self, c: usize) -> Result<Mat> {
        let others: Vec<usize> = (0..self.projections.len()).filter(|&g| g != c).collect();
        let m = match others[..] {
            [a, b] => self.cross[c][a].matmul(&pinv(&self.cross[b][a], 1e-4)?).matmul(&self.cross[b][c]),
            [b] => {
                let s = svd(&self.cross[c][b])?;
                let mut scaled = s.u.clone();
                scaled.scale_cols(&s.s);
                scaled.matmul_tr(&s.u)
            }
            // One view alone says nothing about its states: a quarter of its spread is as good as any.
            _ => Mat::from_fn(self.mean[c].len(), self.mean[c].len(), |i, j| {
                0.75 * self.mean[c][i] * self.mean[c][j] + if i == j { 0.25 } else { 0.0 }
            }),
        };
        Ok(Mat::from_fn(m.rows(), m.cols(), |i, j| 0.5 * (m[(i, j)] + m[(j, i)])))
    }

    /// The rotation that makes the whitened third moments diagonal, T(S_a W, S_b W, W) with S_a = C_cb C_ab⁻¹.
    fn rotation(&self, c: usize, triple: &Dense, whiten: &Mat, seed: u64) -> Result<Mat> {
        let (a, b) = match c {
            0 => (1, 2),
            1 => (0, 2),
            _ => (0, 1),
        };
        let to = |from: usize, other: usize| -> Result<Mat> {
            let map = self.cross[c][other].matmul(&pinv(&self.cross[from][other], 1e-4)?);
            Ok(map.tr_matmul(whiten))
        };
        let (left, right) = (to(a, b)?, to(b, a)?);
        let mut maps = [whiten, whiten, whiten];
        (maps[a], maps[b]) = (&left, &right);
        let seen = triple.multilinear(maps);
        let mut symmetric = Tensor3::zeros(whiten.cols());
        symmetric.for_each_entry(|&[i, j, l], entry| {
            let orders = [[i, j, l], [i, l, j], [j, i, l], [j, l, i], [l, i, j], [l, j, i]];
            *entry = orders.into_iter().map(|index| seen.at(index)).sum::<f64>() / 6.0;
        });
        let solver = Solver::Simultaneous(Simultaneous::default());
        Ok(solver.decompose(&symmetric, whiten.cols(), seed, &Silent)?.cp.factors)
    }
}

/// M^(−1/2) on the directions that carry something, d × rank.
fn inverse_root(m: &Mat) -> Result<Mat> {
    let eigen = eigen_symmetric(m)?;
    let floor = FLAT * eigen.values.first().copied().unwrap_or(0.0);
    let kept: Vec<usize> = (0..eigen.values.len()).filter(|&i| eigen.values[i] > floor).collect();
    let mut root = eigen.vectors.select_cols(&kept);
    root.scale_cols(&kept.iter().map(|&i| 1.0 / eigen.values[i].sqrt()).collect::<Vec<_>>());
    Ok(root)
}

/// M^(−1/2) and M^(1/2); values that noise made too small or negative are lifted.
fn whitening(m: &Mat) -> Result<(Mat, Mat)> {
    let eigen = eigen_symmetric(m)?;
    let floor = 1e-3 * eigen.values.first().copied().unwrap_or(1.0).max(1e-3);
    let values: Vec<f64> = eigen.values.iter().map(|v| v.max(floor).sqrt()).collect();
    let (mut whiten, mut unwhiten) = (eigen.vectors.clone(), eigen.vectors);
    whiten.scale_cols(&values.iter().map(|v| 1.0 / v).collect::<Vec<_>>());
    unwhiten.scale_cols(&values);
    Ok((whiten, unwhiten))
}

/// Orthonormal rows R, coordinates × states, with Rᵀu = (1, …, 1)/√k for the unit vector u along `centre`: the states are
/// the corners of a regular simplex around the mean, and equally likely.
fn even_rotation(centre: &[f64], k: usize) -> Mat {
    let r = centre.len();
    let norm = centre.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    // Reflection that takes the first axis to u.
    let mut w: Vec<f64> = centre.iter().map(|x| -x / norm).collect();
    w[0] += 1.0;
    let square: f64 = w.iter().map(|x| x * x).sum();
    let reflect = Mat::from_fn(r, r, |i, j| {
        f64::from(u8::from(i == j)) - if square > 1e-20 { 2.0 * w[i] * w[j] / square } else { 0.0 }
    });
    let helmert = Mat::from_fn(r, k, |j, s| match j {
        0 => 1.0 / (k as f64).sqrt(),
        _ if s < j => 1.0 / ((j * (j + 1)) as f64).sqrt(),
        _ if s == j => -(j as f64) / ((j * (j + 1)) as f64).sqrt(),
        _ => 0.0,
    });
    reflect.matmul(&helmert)
}

/// Probabilities that add up to 1, none too near 0.
fn floored(mut weights: Vec<f64>) -> Vec<f64> {
    let least = LEAST_STATE / weights.len() as f64;
    weights.iter_mut().for_each(|w| *w = w.max(least));
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    weights
}
