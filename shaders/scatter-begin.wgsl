// For the update that heads the list of a row: the begin of that list in the order of the updates, or the last
// of them. For all others, nothing.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let update = id.x + id.y * params.row_length;
  if (update >= params.updates) {
    return;
  }
  let row = row_of(update);
  var begin = 0u;
  if (row != OUTSIDE && load_head(row) == update + 1u) {
    if (ONLY_LAST) {
      begin = last_of(update + 1u);
    } else {
      begin = sorted(update + 1u);
    }
  }
  store_begin(update, begin);
}
