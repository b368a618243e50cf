// The equations of recurrent cells. What comes before this text or after it has the activations, and
// says what a state times a column of the recurrent weights is.
fn limited(x: f32) -> f32 {
  if (HAS_CLIP) {
    return clamp(x, -params.clip, params.clip);
  }
  return x;
}

// One unit's output and cell state after a step. `row` is where the projected inputs of the unit's
// sequence and direction begin, `state` where the states of its cell do.
fn next_state(row: u32, state: u32, direction: u32, unit: u32, h: f32, c: f32) -> vec2<f32> {
  let size = params.hidden;
  var first = f32(load_x(row + unit)) + product(direction, state, unit);
  if (CELL == 0u) {
    return vec2<f32>(activate_0(direction, limited(first)), c);
  }
  if (CELL == 1u) {
    let keep = activate_0(direction, limited(first));
    var next = f32(load_x(row + 2u * size + unit));
    if (IS_RESET_LATE) {
      let reset = activate_0(direction, limited(f32(load_x(row + size + unit)) + product(direction, state, size + unit)));
      var recurrent = product(direction, state, 2u * size + unit);
      if (HAS_VECTORS) {
        recurrent += f32(load_vectors(direction * size + unit));
      }
      next += reset * recurrent;
    } else {
      next += reset_product(direction, state, 2u * size + unit);
    }
    next = activate_1(direction, limited(next));
    return vec2<f32>((1.0 - keep) * next + keep * h, c);
  }
  var output = f32(load_x(row + size + unit)) + product(direction, state, size + unit);
  var forget = f32(load_x(row + 2u * size + unit)) + product(direction, state, 2u * size + unit);
  let update = f32(load_x(row + 3u * size + unit)) + product(direction, state, 3u * size + unit);
  let peephole = direction * 3u * size + unit;
  if (HAS_VECTORS) {
    first += f32(load_vectors(peephole)) * c;
    forget += f32(load_vectors(peephole + 2u * size)) * c;
  }
  let input = activate_0(direction, limited(first));
  forget = activate_0(direction, limited(forget));
  if (IS_COUPLED) {
    forget = 1.0 - input;
  }
  let cell = forget * c + input * activate_1(direction, limited(update));
  if (HAS_VECTORS) {
    output += f32(load_vectors(peephole + size)) * cell;
  }
  return vec2<f32>(activate_0(direction, limited(output)) * activate_2(direction, limited(cell)), cell);
}

fn sequence_length(sequence: u32) -> u32 {
  if (HAS_LENGTHS) {
    return u32(clamp(i32(load_lengths(sequence)), 0, i32(params.steps)));
  }
  return params.steps;
}

// Where in the sequence a step is.
fn place_of(step: u32, length: u32, direction: u32) -> u32 {
  return select(step, length - 1u - step, direction >= REVERSE_FROM && step < length);
}
