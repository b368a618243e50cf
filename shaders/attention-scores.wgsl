// The scores of up to four rows of queries for one key, in memory. Keys that none of them sees are not read, and
// have no scores. `Sums` and the functions that take them are unrolled.
fn compute_at(i: u32) {
  let key = i % params.keys;
  let rows = rows_of(i / params.keys);
  let ends = ends_of(rows.batch, rows.positions);
  var is_seen = any(vec4<u32>(key) < ends);
  if (HAS_WINDOW) {
    is_seen = is_seen && any(vec4<u32>(key) >= begins_of(ends));
  }
  if (!is_seen) {
    return;
  }
  let place = rows.batch * params.key_pitch + key;
  let quads = (params.size + 3u) / 4u;
  var sums = vec4<f32>();
  for (var d = 0u; d < quads; d++) {
    sums = added(sums, key_four(place * params.size, d), rows.numbers * params.size, d);
  }
  let scores = capped(sums * (params.scale * key_factor(place)));
  store_scores(scores, rows, key);
}
