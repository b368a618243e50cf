// C = alpha * A B + beta * bias for adapters without fast workgroup memory: every invocation keeps
// TILE_ROWS rows of TILE_VECTORS times four columns in registers. What names `Tile`, `RowStarts` or
// `ColumnStarts` is unrolled for the tile. Layers of the grid beyond the batch take later parts of k.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let group = workgroup + vec3<u32>(params.first_x, params.first_y, params.first_z);
  let row = (group.y * WORKGROUP_SIZE_Y + local.y) * TILE_ROWS;
  let lane = local.x & 3u;
  let column = ((group.x * WORKGROUP_SIZE_X + local.x - lane) * TILE_VECTORS + lane) * 4u;
  // Quads beyond the product return as a whole: lanes of the others still exchange what they load.
  if (row >= params.m || column - lane * 4u >= params.n) {
    return;
  }
  let matrices = batch_starts(group.z % params.batches);
  let starts = row_starts(row + lane * LANE_ROWS, matrices.x);
  let columns = column_starts(column, matrices.y);
  var tile: Tile;
  var k = group.z / params.batches * params.part;
  let end = min(k + params.part, params.k);
  if (IS_LONG) {
    for (; k + BLOCK * STEP <= end; ) {
      let next = k + BLOCK * STEP;
      for (; k < next; k += STEP) {
        add_products(&tile, starts, columns, k);
      }
      keep_block(tile);
      tile = Tile();
    }
  }
  for (; k + STEP <= end; k += STEP) {
    add_products(&tile, starts, columns, k);
  }
  for (; k < end; k++) {
    add_product(&tile, starts, columns, k);
  }
  if (IS_LONG) {
    tile = join_blocks(tile);
  }
  store_tile(&tile, row, column, lane, group.z);
}
