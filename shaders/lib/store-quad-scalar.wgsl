// Stores those of four adjacent elements that `count` leaves inside.
fn store_quad(start: u32, count: u32, values: Element4) {
  store(start, values.x);
  if (count > 1u) {
    store(start + 1u, values.y);
  }
  if (count > 2u) {
    store(start + 2u, values.z);
  }
  if (count > 3u) {
    store(start + 3u, values.w);
  }
}
