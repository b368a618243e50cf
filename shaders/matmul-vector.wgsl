// Few rows times a matrix: SLICES lanes share four columns, take turns along k and add up what each
// has. What names `Tile`, `RowStarts` or `ColumnStarts` is unrolled for the rows.
const GROUPS = WORKGROUP_SIZE_X / SLICES;

var<workgroup> partial_sums: array<Element4, WORKGROUP_SIZE_X>;
var<private> slice: u32;
var<private> quad: u32;

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let group = workgroup + vec3<u32>(params.first_x, params.first_y, params.first_z);
  // Lanes side by side read elements side by side.
  slice = select(local.x / GROUPS, local.x % SLICES, BY_DEPTH);
  quad = select(local.x % GROUPS, local.x / SLICES, BY_DEPTH);
  let column = (group.x * GROUPS + quad) * 4u;
  let row = group.y * TILE_ROWS;
  let matrices = batch_starts(group.z);
  let starts = row_starts(row, matrices.x);
  let columns = column_starts(column, matrices.y);
  var tile: Tile;
  let whole = params.k - params.k % STEP;
  var k = slice * STEP;
  if (IS_LONG) {
    for (; k + (BLOCK - 1u) * SLICES * STEP < whole; ) {
      for (var round = 0u; round < BLOCK; round++) {
        add_products(&tile, starts, columns, k);
        k += SLICES * STEP;
      }
      keep_block(tile);
      tile = Tile();
    }
  }
  for (; k < whole; k += SLICES * STEP) {
    add_products(&tile, starts, columns, k);
  }
  for (k = whole + slice; k < params.k; k += SLICES) {
    add_product(&tile, starts, columns, k);
  }
  if (IS_LONG) {
    tile = join_blocks(tile);
  }
  store_tile(&tile, row, column, 0u, group.z);
}

// All lanes of the workgroup are here.
fn add_slices(row: u32, column: u32, batch: u32, sums: Element4) {
  let at = quad * SLICES + slice;
  partial_sums[at] = sums;
  for (var step = SLICES / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (slice < step) {
      partial_sums[at] += partial_sums[at + step];
    }
  }
  if (slice == 0u) {
    store_four(row, column, batch, partial_sums[at]);
  }
  workgroupBarrier();
}
