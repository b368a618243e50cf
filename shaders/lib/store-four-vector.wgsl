// Rows are whole groups of four pixels, so that a group is inside or outside as one.
fn store_four(start: u32, x: u32, values: Element4) {
  if (x < params.out_w) {
    store4(start / 4u, values);
  }
}
