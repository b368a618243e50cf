// The equations of recurrent cells. What comes before this text or after it has the activations, and
// says what a state times a column of the recurrent weights is.
fn limited(x: f32) -> f32 {
  if (HAS_CLIP) {
    // clamp may leave a NaN out.
    return select(select(x, -params.clip, x < -params.clip), params.clip, x > params.clip);
  }
  return x;
}

// One unit's output and cell state after a step. `row` is where the projected inputs of the unit's
// sequence and direction begin, `state` where the states of its cell do.
fn next_state(row: u32, state: u32, direction: u32, unit: u32, h: f32, c: f32) -> vec2<f32> {
  let size = params.hidden;
  let x = row + unit;
  let sums = products(direction, state, unit);
  let first = f32(load_x(x)) + sums.x;
  if (CELL == 0u) {
    return vec2<f32>(activate_0(direction, limited(first)), c);
  }
  if (CELL == 1u) {
    let keep = activate_0(direction, limited(first));
    var next = f32(load_x(x + 2u * size));
    if (IS_RESET_LATE) {
      let reset = activate_0(direction, limited(f32(load_x(x + size)) + sums.y));
      var recurrent = sums.z;
      if (HAS_VECTORS) {
        recurrent += f32(load_vectors(direction * size + unit));
      }
      next += reset * recurrent;
    } else {
      next += reset_product(direction, state, unit);
    }
    next = activate_1(direction, limited(next));
    return vec2<f32>((1.0 - keep) * next + keep * h, c);
  }
  var inputs = vec3<f32>(first, f32(load_x(x + size)) + sums.y, f32(load_x(x + 2u * size)) + sums.z);
  let update = f32(load_x(x + 3u * size)) + sums.w;
  let peephole = direction * 3u * size + unit;
  if (HAS_VECTORS) {
    inputs.x += f32(load_vectors(peephole)) * c;
    inputs.z += f32(load_vectors(peephole + 2u * size)) * c;
  }
  let input = activate_0(direction, limited(inputs.x));
  var forget = activate_0(direction, limited(inputs.z));
  if (IS_COUPLED) {
    forget = 1.0 - input;
  }
  let cell = forget * c + input * activate_1(direction, limited(update));
  if (HAS_VECTORS) {
    inputs.y += f32(load_vectors(peephole + size)) * cell;
  }
  let output = activate_0(direction, limited(inputs.y));
  return vec2<f32>(output * activate_2(direction, limited(cell)), cell);
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
