// Sums of the values of keys by the weights that up to four rows of queries have for them, one quad of each. Keys
// that no query of the batch sees are not read.
fn compute_at(i: u32) {
  let quads = (params.value_size + 3u) / 4u;
  let rows = rows_of(i / quads);
  let column = i % quads;
  let ends = ends_of(rows.batch, rows.positions);
  let end = min(max(max(ends.x, ends.y), max(ends.z, ends.w)), params.keys);
  var begin = 0u;
  if (HAS_WINDOW) {
    let begins = begins_of(ends);
    begin = min(min(begins.x, begins.y), min(begins.z, begins.w)) / 4u * 4u;
  }
  var sums = Sums();
  for (var key = begin; key < end; key += 4u) {
    add_values(&sums, rows, key, end, column);
  }
  store_sums(&sums, rows, column);
}

// Zeros behind the last key, where anything may stand.
fn value_at(rows: Rows, key: u32, end: u32, column: u32) -> vec4<f32> {
  let place = rows.batch * params.value_pitch + min(key, end - 1u);
  let value = value_four(place * params.value_size, column) * value_factor(place);
  return select(vec4<f32>(), value, key < end);
}

fn weights_of(row: u32, key: u32, end: u32) -> vec4<f32> {
  let keys = vec4<u32>(key, key + 1u, key + 2u, key + 3u);
  return select(vec4<f32>(), four_weights(row * params.keys + key), keys < vec4<u32>(end));
}
