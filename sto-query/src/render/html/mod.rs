//! Parts of self-contained HTML pages: escaped names, and a page that neither needs nor may use the
//! network.

mod markup;
mod page;
mod parts;

pub(super) use markup::{
    folded, name, number_head, numbers, script_data, short_name, step, whole_name,
};
pub(super) use page::Page;
pub(super) use parts::{Side, measured, options_table, recorded, sides};
