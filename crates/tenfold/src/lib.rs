//! tenfold.
