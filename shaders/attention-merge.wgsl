// Brings together what attention-tile has summed up over parts of the keys, one after the other.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  let quads = (params.value_size + 3u) / 4u;
  let row = i / quads;
  if (row >= params.all_rows) {
    return;
  }
  let column = i - row * quads;
  var largest = -3.4028234663852886e38;
  var total = 0.0;
  var sums = vec4<f32>();
  for (var part = 0u; part < params.parts; part++) {
    let at = (part * params.all_rows + row) * (quads + 1u);
    let of_part = load_partial4(at + quads);
    let next = max(largest, of_part.x);
    let factor = exp(vec2<f32>(largest, of_part.x) - next);
    total = total * factor.x + of_part.y * factor.y;
    sums = sums * factor.x + load_partial4(at + column) * factor.y;
    largest = next;
  }
  let scale = select(0.0, 1.0 / total, total > 0.0);
  store_quad(row * params.value_size + column * 4u, params.value_size - column * 4u, sums * scale);
}
