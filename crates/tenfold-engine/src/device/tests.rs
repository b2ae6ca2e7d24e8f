use super::*;
use crate::linalg::random;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A device that never has enough memory.
struct Full;

impl Accelerator for Full {
    fn name(&self) -> String {
        "a full card".into()
    }
    fn tensor<'a>(&self, _: &Implicit<'a>) -> Result<Box<dyn Contract + 'a>> {
        Err(Error::DeviceMemory { needed: 9, available: 3 })
    }
    fn matrix<'a>(&self, _: &'a dyn SparseRows) -> Result<Box<dyn Product + 'a>> {
        Err(Error::Device("it is gone".into()))
    }
    fn gram<'a>(&self, _: Box<dyn RowGroups + 'a>) -> Result<Box<dyn Gram + 'a>> {
        Err(Error::Device("it is gone".into()))
    }
    fn steps(&self, _: &Steps<'_>) -> Result<Stepped> {
        Err(Error::DeviceMemory { needed: 9, available: 3 })
    }
    fn transfers(&self) -> Transfers {
        Transfers::default()
    }
}

#[test]
fn the_processor_takes_over_only_where_it_may() {
    let y = random::gaussian(20, 3, &mut random::rng(1, 0));
    let tensor = Implicit::new(3, 3, vec![Term::Powers { samples: &y, weights: None, scale: 1.0 }]);
    let (allowed, asked) = (Device::preferred(Arc::new(Full)), Device::required(Arc::new(Full)));
    let v = Mat::identity(3);
    assert_eq!(allowed.tensor(tensor.clone()).unwrap().power(&v).unwrap(), tensor.power(&v).unwrap());
    let notices = allowed.take_notices();
    assert!(notices.len() == 1 && notices[0].contains("a full card"), "{notices:?}");
    assert!(allowed.take_notices().is_empty());
    let told = asked.tensor(tensor).err().unwrap().to_string();
    assert!(told.contains("--device cpu"), "{told}");
    // A device that is lost is an error for both: nobody knows what it had done.
    let graph = Adjacency::undirected(2, vec![vec![(0, 1)]], None).unwrap();
    assert!(allowed.adjacency(&graph).is_err());
    assert!(Device::default().is_cpu() && Device::default() == Device::default());
    assert_ne!(allowed, asked);
}
/// A device whose memory runs out after some calls.
struct Scarce(Arc<AtomicUsize>);

struct Scarcely<T>(T, Arc<AtomicUsize>);

impl<T> Scarcely<T> {
    fn spend(&self) -> Result<&T> {
        let left = self.1.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map(|_| &self.0).map_err(|_| Error::DeviceMemory { needed: 9, available: 3 })
    }
}

impl Contract for Scarcely<Implicit<'_>> {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn order(&self) -> usize {
        self.0.order()
    }
    fn contract(&self, arguments: &[&Mat]) -> Result<Mat> {
        self.spend()?.contract(arguments)
    }
    fn rounding(&self) -> f64 {
        1e-5
    }
}

impl Product for Scarcely<&dyn SparseRows> {
    fn multiply(&self, x: &Tall) -> Result<Tall> {
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let matrix = self.spend()?;
        let mut out = Tall::zeros(matrix.shape().0, x.width());
        for row in 0..matrix.shape().0 {
            columns.clear();
            values.clear();
            matrix.append(row, &mut columns, &mut values);
            for (c, v) in columns.iter().zip(&values) {
                for j in 0..x.width() {
                    out.as_mut_slice()[row * x.width() + j] += v * x.row(*c as usize)[j];
                }
            }
        }
        Ok(out)
    }
}

impl Accelerator for Scarce {
    fn name(&self) -> String {
        "a small card".into()
    }
    fn tensor<'a>(&self, tensor: &Implicit<'a>) -> Result<Box<dyn Contract + 'a>> {
        Ok(Box::new(Scarcely(tensor.clone(), self.0.clone())))
    }
    fn matrix<'a>(&self, matrix: &'a dyn SparseRows) -> Result<Box<dyn Product + 'a>> {
        Ok(Box::new(Scarcely(matrix, self.0.clone())))
    }
    fn gram<'a>(&self, _: Box<dyn RowGroups + 'a>) -> Result<Box<dyn Gram + 'a>> {
        unreachable!("a device that is only allowed is not asked")
    }
    fn steps(&self, _: &Steps<'_>) -> Result<Stepped> {
        Err(Error::DeviceMemory { needed: 9, available: 3 })
    }
    fn transfers(&self) -> Transfers {
        Transfers::default()
    }
}

#[test]
fn the_processor_goes_on_where_memory_runs_out_in_the_middle() {
    let left = Arc::new(AtomicUsize::new(2));
    let allowed = Device::preferred(Arc::new(Scarce(left.clone())));
    let y = random::gaussian(20, 3, &mut random::rng(1, 0));
    let tensor = Implicit::new(3, 3, vec![Term::Powers { samples: &y, weights: None, scale: 1.0 }]);
    let held = allowed.tensor(tensor.clone()).unwrap();
    let v = Mat::identity(3);
    for call in 0..4 {
        assert_eq!(held.power(&v).unwrap(), tensor.power(&v).unwrap());
        assert_eq!(held.rounding(), if call < 2 { 1e-5 } else { 0.0 });
    }
    assert_eq!(allowed.take_notices().len(), 1, "one notice, not one a call");
    left.store(1, Ordering::Relaxed);
    let graph = Adjacency::undirected(3, vec![vec![(0, 1), (1, 2)]], None).unwrap();
    let product = allowed.adjacency(&graph).unwrap();
    let x = Tall::gaussian(3, 2, 1);
    assert_eq!(product.multiply(&x).unwrap(), product.multiply(&x).unwrap());
    assert_eq!(allowed.take_notices().len(), 1);
    left.store(1, Ordering::Relaxed);
    let asked = Device::required(Arc::new(Scarce(left)));
    let product = asked.adjacency(&graph).unwrap();
    product.multiply(&x).unwrap();
    assert!(product.multiply(&x).is_err(), "a device that was asked for says that it cannot");
}
