// One step of all sequences, one unit of the state per invocation. States alternate between two parts
// of the scratch; in a third part are the states of cells, or what the reset gate leaves of the output.
fn hidden_state(i: u32) -> f32 {
  if (params.step == 0u) {
    return f32(load_initial(i));
  }
  return load_state(params.step % 2u * params.count + i);
}

fn product(direction: u32, state: u32, column: u32) -> f32 {
  let width = params.hidden * GATE_COUNT;
  var place = direction * params.hidden * width + column;
  var sum = 0.0;
  for (var k = 0u; k < params.hidden; k++) {
    sum += hidden_state(state + k) * f32(load_r(place));
    place += width;
  }
  return sum;
}

fn reset_product(direction: u32, state: u32, column: u32) -> f32 {
  let width = params.hidden * GATE_COUNT;
  var place = direction * params.hidden * width + column;
  var sum = 0.0;
  for (var k = 0u; k < params.hidden; k++) {
    sum += load_state(2u * params.count + state + k) * f32(load_r(place));
    place += width;
  }
  return sum;
}

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  if (i >= params.count) {
    return;
  }
  let group = i / params.hidden;
  let unit = i - group * params.hidden;
  let direction = group / params.batch;
  let sequence = group - direction * params.batch;
  let length = sequence_length(sequence);
  let place = place_of(params.step, length, direction);
  let directions = params.count / params.hidden / params.batch;
  let row = ((place * params.batch + sequence) * directions + direction) * params.hidden * GATE_COUNT;
  let h = hidden_state(i);
  if (IS_RESET) {
    let reset = f32(load_x(row + params.hidden + unit)) + product(direction, i - unit, params.hidden + unit);
    store_state(2u * params.count + i, activate_0(direction, limited(reset)) * h);
    return;
  }
  var next = vec2<f32>(h, 0.0);
  if (CELL == 2u) {
    if (params.step == 0u) {
      next.y = f32(load_initial(params.count + i));
    } else {
      next.y = load_state(2u * params.count + i);
    }
  }
  if (params.step < params.steps) {
    var output = 0.0;
    if (params.step < length) {
      next = next_state(row, i - unit, direction, unit, h, next.y);
      output = next.x;
    }
    store(place * params.count + i, Element(output));
    store_state((params.step + 1u) % 2u * params.count + i, next.x);
    if (CELL == 2u) {
      store_state(2u * params.count + i, next.y);
    }
  }
  if (params.step + 1u >= params.steps) {
    store(params.steps * params.count + i, Element(next.x));
    if (CELL == 2u) {
      store((params.steps + 1u) * params.count + i, Element(next.y));
    }
  }
}
