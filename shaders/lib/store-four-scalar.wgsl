// Stores those of four adjacent pixels that are inside the row.
fn store_four(start: u32, x: u32, values: Element4) {
  if (x < params.out_w) {
    store(start, values.x);
  }
  if (x + 1u < params.out_w) {
    store(start + 1u, values.y);
  }
  if (x + 2u < params.out_w) {
    store(start + 2u, values.z);
  }
  if (x + 3u < params.out_w) {
    store(start + 3u, values.w);
  }
}
