// All steps of one sequence in one direction by one workgroup, which keeps the state.
var<workgroup> states: array<f32, HIDDEN>;
// The states of cells, or what the reset gate leaves of the output.
var<workgroup> cells: array<f32, HIDDEN>;
var<workgroup> gates: array<f32, GATES>;

fn products(direction: u32, state: u32, unit: u32) -> vec4<f32> {
  var sums = vec4<f32>(gates[unit], 0.0, 0.0, 0.0);
  if (CELL > 0u) {
    sums.y = gates[HIDDEN + unit];
    sums.z = gates[2u * HIDDEN + unit];
  }
  if (CELL > 1u) {
    sums.w = gates[GATES - HIDDEN + unit];
  }
  return sums;
}

fn reset_product(direction: u32, state: u32, unit: u32) -> f32 {
  return gates[GATES - HIDDEN + unit];
}

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let index = group.x + group.y * params.row_length;
  let count = params.directions * params.batch;
  if (index >= count) {
    return;
  }
  let direction = index / params.batch;
  let sequence = index - direction * params.batch;
  let length = sequence_length(sequence);
  let first = index * HIDDEN;
  for (var unit = lane; unit < HIDDEN; unit += WORKGROUP_SIZE_X) {
    states[unit] = f32(load_initial(first + unit));
    if (CELL == 2u) {
      cells[unit] = f32(load_initial(count * HIDDEN + first + unit));
    }
  }
  workgroupBarrier();
  let resets_early = CELL == 1u && !IS_RESET_LATE;
  let columns = select(GATES, 2u * HIDDEN, resets_early);
  let weights = direction * HIDDEN * GATES;
  for (var step = 0u; step < params.steps; step++) {
    let place = place_of(step, length, direction);
    let row = ((place * params.batch + sequence) * params.directions + direction) * GATES;
    for (var column = lane; column < columns; column += WORKGROUP_SIZE_X) {
      var sum = 0.0;
      for (var k = 0u; k < HIDDEN; k++) {
        sum += states[k] * f32(load_r(weights + k * GATES + column));
      }
      gates[column] = sum;
    }
    workgroupBarrier();
    if (resets_early) {
      for (var unit = lane; unit < HIDDEN; unit += WORKGROUP_SIZE_X) {
        let reset = f32(load_x(row + HIDDEN + unit)) + gates[HIDDEN + unit];
        cells[unit] = activate_0(direction, limited(reset)) * states[unit];
      }
      workgroupBarrier();
      for (var column = 2u * HIDDEN + lane; column < GATES; column += WORKGROUP_SIZE_X) {
        var sum = 0.0;
        for (var k = 0u; k < HIDDEN; k++) {
          sum += cells[k] * f32(load_r(weights + k * GATES + column));
        }
        gates[column] = sum;
      }
      workgroupBarrier();
    }
    for (var unit = lane; unit < HIDDEN; unit += WORKGROUP_SIZE_X) {
      var output = 0.0;
      if (step < length) {
        let next = next_state(row, 0u, direction, unit, states[unit], cells[unit]);
        output = next.x;
        states[unit] = next.x;
        if (CELL == 2u) {
          cells[unit] = next.y;
        }
      }
      store(place * count * HIDDEN + first + unit, Element(output));
    }
    workgroupBarrier();
  }
  for (var unit = lane; unit < HIDDEN; unit += WORKGROUP_SIZE_X) {
    let last = params.steps * count * HIDDEN + first + unit;
    store(last, Element(states[unit]));
    if (CELL == 2u) {
      store(last + count * HIDDEN, Element(cells[unit]));
    }
  }
}
