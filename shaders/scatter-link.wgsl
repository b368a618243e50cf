// Puts every update into the list of the row that it goes to, in whatever order. Lists hold the
// numbers of updates plus one; 0 ends them. Updates of rows that do not exist are in no list.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let update = id.x + id.y * params.row_length;
  if (update >= params.updates) {
    return;
  }
  let row = row_of(update);
  if (row != OUTSIDE) {
    store_next(update, exchange_head(row, update + 1u));
  }
}
