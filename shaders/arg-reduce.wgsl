// The place of the best element along one axis. LANES invocations share a row.
var<workgroup> values: array<Value, WORKGROUP_SIZE_X>;
var<workgroup> places: array<u32, WORKGROUP_SIZE_X>;

fn consider(value: ptr<function, Value>, place: ptr<function, u32>, next: Value, k: u32) {
  if (is_better(next, *value) | (IS_LAST & !is_better(*value, next))) {
    *value = next;
    *place = k;
  }
}

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_index) lane: u32,
  @builtin(workgroup_id) group: vec3<u32>,
) {
  let within = lane % LANES;
  let row = (group.x + group.y * params.row_length) * (WORKGROUP_SIZE_X / LANES) + lane / LANES;
  let i = min(row, params.count - 1u);
  let outer = i / params.inner;
  let start = outer * params.inner * params.size + (i - outer * params.inner);
  var place = min(within, params.size - 1u);
  var value = load_x(start + place * params.inner);
  // Four loads at a time; those beyond the row give its last element, which changes nothing.
  let last = params.size - 1u;
  for (var k = within + LANES; k < params.size; k += 4u * LANES) {
    let ks = min(vec4<u32>(k, k + LANES, k + 2u * LANES, k + 3u * LANES), vec4<u32>(last));
    let at = start + ks * params.inner;
    let a = load_x(at.x);
    let b = load_x(at.y);
    let c = load_x(at.z);
    let d = load_x(at.w);
    consider(&value, &place, a, ks.x);
    consider(&value, &place, b, ks.y);
    consider(&value, &place, c, ks.z);
    consider(&value, &place, d, ks.w);
  }
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    values[lane] = value;
    places[lane] = place;
    workgroupBarrier();
    let other = min(lane + half, WORKGROUP_SIZE_X - 1u);
    let next = values[other];
    let next_place = places[other];
    workgroupBarrier();
    let is_preferred = select((next_place < place), (next_place > place), IS_LAST);
    if (is_better(next, value) | (is_preferred & !is_better(value, next))) {
      value = next;
      place = next_place;
    }
  }
  if (within == 0u && row < params.count) {
    store(row, vec2<u32>(place, 0u));
  }
}
