// Determinants of matrices of one element, times what was taken off before.
fn compute_at(i: u32) {
  var product = 1.0;
  if (!IS_EMPTY) {
    product = load_from(i);
  }
  if (!IS_FIRST) {
    product *= load_product(i);
  }
  store(i, Element(product));
}
