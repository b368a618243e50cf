// One step of all sequences, one unit of the state per invocation. States alternate between two parts
// of the scratch; in a third part are the states of cells, or what the reset gate leaves of the output.
// Phase 0 brings the initial states there, phase 1 resets, phase 2 is the step.
fn columns(place: u32) -> vec4<f32> {
  let size = params.hidden;
  var weights = vec4<f32>(f32(load_r(place)), 0.0, 0.0, 0.0);
  if (CELL > 0u) {
    weights.y = f32(load_r(place + size));
    weights.z = f32(load_r(place + 2u * size));
  }
  if (CELL > 1u) {
    weights.w = f32(load_r(place + 3u * size));
  }
  return weights;
}

fn products(direction: u32, state: u32, unit: u32) -> vec4<f32> {
  let width = params.hidden * GATE_COUNT;
  let first = params.source + state;
  var place = direction * params.hidden * width + unit;
  var sums = vec4<f32>();
  for (var k = 0u; k < params.hidden; k++) {
    sums += load_state(first + k) * columns(place);
    place += width;
  }
  return sums;
}

fn sum_of_column(first: u32, direction: u32, column: u32) -> f32 {
  let width = params.hidden * GATE_COUNT;
  var place = direction * params.hidden * width + column;
  var sum = 0.0;
  for (var k = 0u; k < params.hidden; k++) {
    sum += load_state(first + k) * f32(load_r(place));
    place += width;
  }
  return sum;
}

fn reset_product(direction: u32, state: u32, unit: u32) -> f32 {
  return sum_of_column(2u * params.count + state, direction, 2u * params.hidden + unit);
}

fn store_last(i: u32, state: vec2<f32>) {
  store(params.steps * params.count + i, Element(state.x));
  if (CELL == 2u) {
    store((params.steps + 1u) * params.count + i, Element(state.y));
  }
}

fn keep(i: u32, place: u32, state: vec2<f32>) {
  store_state(place + i, state.x);
  if (CELL == 2u) {
    store_state(2u * params.count + i, state.y);
  }
}

fn compute_at(i: u32) {
  if (PHASE == 0u) {
    var initial = vec2<f32>(f32(load_initial(i)), 0.0);
    if (CELL == 2u) {
      initial.y = f32(load_initial(params.count + i));
    }
    keep(i, 0u, initial);
    if (params.steps == 0u) {
      store_last(i, initial);
    }
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
  var next = vec2<f32>(load_state(params.source + i), 0.0);
  if (PHASE == 1u) {
    let column = params.hidden + unit;
    let sum = sum_of_column(params.source + i - unit, direction, column);
    let reset = activate_0(direction, limited(f32(load_x(row + column)) + sum));
    store_state(2u * params.count + i, reset * next.x);
    return;
  }
  if (CELL == 2u) {
    next.y = load_state(2u * params.count + i);
  }
  var output = 0.0;
  if (params.step < length) {
    next = next_state(row, i - unit, direction, unit, next.x, next.y);
    output = next.x;
  }
  store(place * params.count + i, Element(output));
  keep(i, params.count - params.source, next);
  if (params.step + 1u == params.steps) {
    store_last(i, next);
  }
}
