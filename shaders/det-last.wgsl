// Determinants of matrices of one element, times what was taken off before.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  if (i >= params.count) {
    return;
  }
  var product = 1.0;
  if (!IS_EMPTY) {
    product = load_from(i);
  }
  if (!IS_FIRST) {
    product *= load_product(i);
  }
  store(i, Element(product));
}
