// Up to four rows of queries that share keys; behind the last one it stands again.
struct Rows {
  batch: u32,
  // The first of them in its batch.
  first: u32,
  // Among all rows.
  numbers: vec4<u32>,
  positions: vec4<u32>,
}

fn rows_of(tile: u32) -> Rows {
  let batch = tile / params.tiles;
  let first = (tile - batch * params.tiles) * ROWS;
  let rows = min(vec4<u32>(first, first + 1u, first + 2u, first + 3u), vec4<u32>(params.rows - 1u));
  return Rows(batch, first, batch * params.rows + rows, rows % params.queries);
}
