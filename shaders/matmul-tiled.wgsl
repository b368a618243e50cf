// C = alpha * A B + beta * bias in tiles of workgroup memory; goes with lib/workgroup-tile.wgsl.
var<private> batch: u32;
var<private> a_start: u32;
var<private> b_start: u32;

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let group = workgroup + vec3<u32>(params.first_x, params.first_y, params.first_z);
  batch = group.z;
  let matrices = batch_starts(batch);
  a_start = matrices.x;
  b_start = matrices.y;
  multiply_tile(group, local, params.k);
}

fn load_left(row: u32, k: u32) -> Element {
  if (row >= params.m || k >= params.k) {
    return Element();
  }
  return load_a(a_start + row * params.a_row + k * params.a_k);
}

fn load_right(k: u32, column: u32) -> Element4 {
  if (k >= params.k || column >= params.n) {
    return Element4();
  }
  let at = b_start + k * params.b_k + column * params.b_column;
  if (B_IS_VECTOR) {
    return load_b4(at / 4u);
  }
  let last = b_start + k * params.b_k + (params.n - 1u) * params.b_column;
  return Element4(
    load_b(at),
    load_b(min(at + params.b_column, last)),
    load_b(min(at + 2u * params.b_column, last)),
    load_b(min(at + 3u * params.b_column, last)),
  );
}

fn store_row(row: u32, column: u32, sums: Element4) {
  if (row >= params.m) {
    return;
  }
  store_element(row, column, sums.x);
  store_element(row, column + 1u, sums.y);
  store_element(row, column + 2u, sums.z);
  store_element(row, column + 3u, sums.w);
}

fn store_element(row: u32, column: u32, sum: Element) {
  if (column >= params.n) {
    return;
  }
  var result = sum;
  if (HAS_ALPHA) {
    result *= Element(params.alpha);
  }
  if (HAS_C) {
    result += Element(params.beta) * load_c(row * params.c_row + column * params.c_column);
  }
  store((batch * params.m + row) * params.n + column, result);
}
