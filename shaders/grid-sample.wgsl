// Samples of an image at the places of a grid, one output element per invocation. Axes that the image
// does not have are of size 1, and have one tap.
const NEAREST = 0u;
const CUBIC = 2u;
const ZEROS = 0u;
const BORDER = 1u;
const TAPS = select(select(2u, 1u, MODE == NEAREST), 4u, MODE == CUBIC);
// The number of the tap at the place itself.
const OWN = select(0u, 1u, MODE == CUBIC);

fn compute_at(i: u32) {
  let plane = i / params.points;
  let at = (plane / params.channels * params.points + i % params.points) * RANK;
  let x = place(load_grid(at), params.in_w);
  var y = 0.0;
  var z = 0.0;
  if (RANK > 1u) {
    y = place(load_grid(at + 1u), params.in_h);
  }
  if (RANK > 2u) {
    z = place(load_grid(at + 2u), params.in_d);
  }
  var sum = 0.0;
  for (var c = 0u; c < select(1u, TAPS, RANK > 2u); c++) {
    let slice = tap(z, select(OWN, c, RANK > 2u), params.in_d);
    for (var b = 0u; b < select(1u, TAPS, RANK > 1u); b++) {
      let row = tap(y, select(OWN, b, RANK > 1u), params.in_h);
      for (var a = 0u; a < TAPS; a++) {
        let column = tap(x, a, params.in_w);
        let index = ((plane * params.in_d + slice.index) * params.in_h + row.index) * params.in_w + column.index;
        let weight = slice.weight * row.weight * column.weight;
        if (slice.inside && row.inside && column.inside) {
          sum += load_x(index) * weight;
        }
      }
    }
  }
  store(i, Element(sum));
}

// Where a number from -1 to 1 stands on an axis, in elements.
fn place(told: f32, length: u32) -> f32 {
  let size = f32(length);
  var at = select((told + 1.0) * size - 1.0, (told + 1.0) * (size - 1.0), ALIGN_CORNERS) / 2.0;
  if (MODE == NEAREST) {
    at = round(at);
  }
  let low = select(-0.5, 0.0, ALIGN_CORNERS);
  let high = size - 1.0 - low;
  if (at < low || at > high) {
    // Of a cubic kernel each tap is clamped, not their place.
    if (PADDING == BORDER && MODE != CUBIC) {
      at = clamp(at, 0.0, size - 1.0);
    } else if (PADDING > BORDER) {
      at = mirrored(at, low, high);
    }
  }
  return clamp(at, -4.0, size + 4.0);
}

struct Tap {
  index: u32,
  weight: f32,
  inside: bool,
}

// One of the elements around a place, and its weight.
fn tap(at: f32, number: u32, length: u32) -> Tap {
  let before = floor(at);
  let index = before + f32(number) - f32(OWN);
  let distance = abs(index - at);
  var weight = 1.0 - distance;
  if (MODE == CUBIC) {
    weight = cubic(distance);
  }
  let last = f32(length) - 1.0;
  var resolved = index;
  if (PADDING > BORDER && (index < 0.0 || index > last)) {
    let low = select(-0.5, 0.0, ALIGN_CORNERS);
    resolved = round(mirrored(index, low, last - low));
  }
  let inside = PADDING != ZEROS || (index >= 0.0 && index <= last);
  return Tap(u32(clamp(resolved, 0.0, last)), weight, inside);
}

fn mirrored(at: f32, low: f32, high: f32) -> f32 {
  let span = high - low;
  if (span <= 0.0) {
    return low;
  }
  let distance = abs(at - low);
  let turns = floor(distance / span);
  let rest = distance - turns * span;
  return select(high - rest, low + rest, turns == 2.0 * floor(turns / 2.0));
}

// R. Keys' kernel with a = -0.75.
fn cubic(x: f32) -> f32 {
  let near = (1.25 * x - 2.25) * x * x + 1.0;
  let far = ((-0.75 * x + 3.75) * x - 6.0) * x + 3.0;
  return select(far, near, x <= 1.0);
}
