// C = alpha * A B + beta * bias for adapters without fast workgroup memory: every invocation keeps
// TILE_ROWS rows of four columns in registers. The four columns of a lane are four apart, so that
// lanes read consecutive elements of B. `add_products` and `store_tile` are unrolled for TILE_ROWS.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let group = workgroup + vec3<u32>(params.first_x, params.first_y, params.first_z);
  let row = (group.y * WORKGROUP_SIZE_Y + local.y) * TILE_ROWS;
  let lane = local.x & 3u;
  let column = (group.x * WORKGROUP_SIZE_X + local.x - lane) * 4u + lane;
  let batch = group.z;
  let matrices = batch_starts(batch);
  let a_start = matrices.x;
  let b_start = matrices.y;
  let columns = min(
    vec4<u32>(column) + vec4<u32>(0u, 4u, 8u, 12u),
    vec4<u32>(params.n - 1u),
  ) * params.b_column + b_start;
  let starts = row_starts(row, lane, a_start);
  var tile: Tile;
  let whole = params.k & ~3u;
  for (var k = 0u; k < whole; k += 4u) {
    let b_row = columns + k * params.b_k;
    add_products(
      &tile,
      starts,
      k,
      load_columns(b_row),
      load_columns(b_row + params.b_k),
      load_columns(b_row + 2u * params.b_k),
      load_columns(b_row + 3u * params.b_k),
    );
  }
  for (var k = whole; k < params.k; k++) {
    add_product(&tile, starts, k, load_columns(columns + k * params.b_k));
  }
  store_tile(&tile, row, column, batch);
}

fn load_columns(at: vec4<u32>) -> Element4 {
  return Element4(load_b(at.x), load_b(at.y), load_b(at.z), load_b(at.w));
}

fn store_row(row: u32, column: u32, batch: u32, sums: Element4) {
  if (row >= params.m) {
    return;
  }
  let start = (batch * params.m + row) * params.n;
  store_element(start, row, column, sums.x);
  store_element(start, row, column + 4u, sums.y);
  store_element(start, row, column + 8u, sums.z);
  store_element(start, row, column + 12u, sums.w);
}

fn store_element(start: u32, row: u32, column: u32, sum: Element) {
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
  store(start + column, result);
}
