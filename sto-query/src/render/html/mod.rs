//! What self-contained HTML pages are made of: names that cannot break markup, and a page that
//! needs and may use no network.

mod markup;
mod page;
mod parts;

pub(super) use markup::{
    folded, name, number_head, numbers, script_data, short_name, step, whole_name,
};
pub(super) use page::Page;
pub(super) use parts::{Side, measured, options_table, recorded, sides};
