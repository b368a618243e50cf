// Attention whose state is a matrix: one column of the state per invocation, which goes through all
// positions from `begin` to `end`. The state is kept in scratch.
fn compute_at(i: u32) {
  let group = i / params.value_size;
  let column = i - group * params.value_size;
  let sequence = group / params.kv_heads;
  let head = group - sequence * params.kv_heads;
  let first = group * params.key_size * params.value_size + column;
  if (params.begin == 0u) {
    for (var k = 0u; k < params.key_size; k++) {
      let place = first + k * params.value_size;
      store_state(place, f32(load_initial(place)));
    }
  }
  let heads = params.kv_heads * params.group_size;
  for (var t = params.begin; t < params.end; t++) {
    let position = sequence * params.positions + t;
    let row = position * params.kv_heads + head;
    let keys = row * params.key_size;
    var value = f32(load_value(row * params.value_size + column));
    if (HAS_GATE || HAS_ERASE) {
      for (var k = 0u; k < params.key_size; k++) {
        let place = first + k * params.value_size;
        var state = load_state(place);
        if (HAS_GATE) {
          state *= f32(load_gate(keys + k));
          store_state(place, state);
        }
        if (HAS_ERASE) {
          value -= state * f32(load_erase(keys + k));
        }
      }
    }
    for (var k = 0u; k < params.key_size; k++) {
      let place = first + k * params.value_size;
      store_state(place, load_state(place) + f32(load_key(keys + k)) * value);
    }
    for (var g = 0u; g < params.group_size; g++) {
      let query = position * heads + head * params.group_size + g;
      var sum = 0.0;
      for (var k = 0u; k < params.key_size; k++) {
        sum += load_state(first + k * params.value_size) * f32(load_query(query * params.key_size + k));
      }
      store(query * params.value_size + column, Element(sum));
    }
  }
  if (params.end == params.positions) {
    for (var k = 0u; k < params.key_size; k++) {
      let place = first + k * params.value_size;
      store(params.outputs + place, Element(load_state(place)));
    }
  }
}
