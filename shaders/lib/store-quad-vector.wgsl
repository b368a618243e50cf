// Rows are whole groups of four elements, so that a group is inside or outside as one.
fn store_quad(start: u32, count: u32, values: Element4) {
  store4(start / 4u, values);
}
