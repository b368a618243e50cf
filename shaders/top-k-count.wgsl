// Places of the first elements of short rows: an element's place is the number of those before it.
fn compute_at(i: u32) {
  let row = i / params.size;
  let index = i - row * params.size;
  let key = key_at(row, index);
  var place = 0u;
  for (var other = 0u; other < params.size; other++) {
    if (comes_before(key_at(row, other), other, key, index)) {
      place++;
    }
  }
  if (place < params.k) {
    store_place(row, place, index);
  }
}
