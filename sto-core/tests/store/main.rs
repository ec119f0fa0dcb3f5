//! The store: what goes in comes out, whatever is wrong with the file.

mod damage;
mod model;
mod place;
mod round_trip;
