//! Whether topics differ from each other.

use tenfold_engine::linalg::Mat;

/// The `n` most probable words of every topic (a row of `topics`), the most probable first; of equals the smaller id.
///
/// # Example
/// ```
/// use tenfold::engine::linalg::Mat;
/// use tenfold::evaluate::top_words;
/// let topics = Mat::from_vec(1, 4, vec![0.2, 0.1, 0.5, 0.2]);
/// assert_eq!(top_words(&topics, 3), [[2, 0, 3]]);
/// ```
pub fn top_words(topics: &Mat, n: usize) -> Vec<Vec<u32>> {
    let n = n.min(topics.cols());
    let of_topic = |t: usize| {
        let row = topics.row(t);
        let before = |a: &u32, b: &u32| row[*b as usize].total_cmp(&row[*a as usize]).then(a.cmp(b));
        let mut words: Vec<u32> = (0..topics.cols() as u32).collect();
        if n > 0 && n < words.len() {
            words.select_nth_unstable_by(n - 1, before);
        }
        words.truncate(n);
        words.sort_unstable_by(before);
        words
    };
    (0..topics.rows()).map(of_topic).collect()
}

/// Topic diversity: distinct words among the top words of all topics, as a share of those lists' lengths. With the 25
/// top words of each topic it is the measure of the literature; 1 means that no word is in two lists.
///
/// Of no words at all it is 1.
///
/// # Example
/// ```
/// use tenfold::evaluate::diversity;
/// assert_eq!(diversity(&[vec![1, 2], vec![2, 3]]), 0.75);
/// ```
///
/// # References
/// Dieng, Ruiz and Blei, "Topic modeling in embedding spaces", TACL 2020, section 6.
pub fn diversity(topics: &[Vec<u32>]) -> f64 {
    let mut words: Vec<u32> = topics.iter().flatten().copied().collect();
    let all = words.len();
    words.sort_unstable();
    words.dedup();
    if all == 0 { 1.0 } else { words.len() as f64 / all as f64 }
}

/// The share of top words that each two topics have in common, k × k, of the shorter list; ones on the diagonal.
///
/// # Example
/// ```
/// use tenfold::evaluate::overlaps;
/// assert_eq!(overlaps(&[vec![1, 2, 3, 4], vec![4, 5, 6, 7]])[(0, 1)], 0.25);
/// ```
pub fn overlaps(topics: &[Vec<u32>]) -> Mat {
    let sorted: Vec<Vec<u32>> = topics
        .iter()
        .map(|list| {
            let mut list = list.clone();
            list.sort_unstable();
            list
        })
        .collect();
    Mat::from_fn(topics.len(), topics.len(), |a, b| {
        let common = sorted[a].iter().filter(|word| sorted[b].binary_search(word).is_ok()).count();
        let shorter = sorted[a].len().min(sorted[b].len());
        match (a == b, shorter) {
            (true, _) => 1.0,
            (false, 0) => 0.0,
            (false, _) => common as f64 / shorter as f64,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::random;

    #[test]
    fn top_words_are_those_of_a_full_sort() {
        // Rounded, so that there are ties.
        let topics = random::gaussian(5, 300, &mut random::rng(1, 0)).map(|x| (4.0 * x).round());
        for n in [0, 1, 10, 299, 300, 1000] {
            for (t, list) in top_words(&topics, n).iter().enumerate() {
                let mut all: Vec<u32> = (0..300).collect();
                all.sort_by(|a, b| topics[(t, *b as usize)].total_cmp(&topics[(t, *a as usize)]));
                assert_eq!(list[..], all[..n.min(300)]);
            }
        }
    }

    #[test]
    fn diversity_and_overlap_of_equal_and_of_different_topics() {
        let equal = vec![vec![3, 1, 2]; 4];
        assert_eq!(diversity(&equal), 0.25);
        assert!(overlaps(&equal).as_slice().iter().all(|&x| x == 1.0));
        let different = [vec![1, 2], vec![3, 4], vec![]];
        assert_eq!(diversity(&different), 1.0);
        assert_eq!(overlaps(&different), Mat::identity(3));
        assert_eq!(diversity(&[]), 1.0);
    }
}
