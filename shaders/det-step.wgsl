// One step of elimination over a batch of matrices: the row with the largest first element is taken
// off the others, and a matrix smaller by one row and one column is left. One element of that per
// invocation.
fn compute_at(i: u32) {
  let size = params.size;
  let rest = size - 1u;
  let matrix = i / (rest * rest);
  let row = i / rest % rest;
  let column = i % rest;
  let start = matrix * size * size;
  var pivot = 0u;
  var largest = load_from(start);
  for (var r = 1u; r < size; r++) {
    let value = load_from(start + r * size);
    let is_larger = abs(value) > abs(largest);
    pivot = select(pivot, r, is_larger);
    largest = select(largest, value, is_larger);
  }
  if (row == 0u && column == 0u) {
    var product = select(-largest, largest, pivot == 0u);
    if (!IS_FIRST) {
      product *= load_product(matrix);
    }
    store_product(matrix, product);
  }
  // The first row stands in for the one that was taken.
  let kept = start + select(row + 1u, 0u, row + 1u == pivot) * size;
  let factor = select(load_from(kept) / largest, 0.0, largest == 0.0);
  store_to(i, load_from(kept + column + 1u) - factor * load_from(start + pivot * size + column + 1u));
}
