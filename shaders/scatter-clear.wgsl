// Empties the list of updates of every row.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = id.x + id.y * params.row_length;
  if (row < params.rows) {
    store_head(row, 0u);
  }
}
