// Empties the list of updates of every row that an update goes to. Several may, so that this is atomic.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let update = id.x + id.y * params.row_length;
  if (update >= params.updates) {
    return;
  }
  let row = row_of(update);
  if (row != OUTSIDE) {
    _ = exchange_head(row, 0u);
  }
}
