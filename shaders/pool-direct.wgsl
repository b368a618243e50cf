// Maximum, mean, sum or place of the maximum over a window along up to three axes, one output element
// per invocation. Every tap is loaded, from the nearest element inside, and replaced where it is
// outside: no branches that differ.
alias Part = Loaded;

fn joined(a: Part, b: Part) -> Part {
  return a + b;
}

fn compute_at(i: u32) {
  let row_out = i / params.out_w;
  let slice_out = row_out / params.out_h;
  let volume = slice_out / params.out_d;
  let z0 = i32((slice_out - volume * params.out_d) * params.stride_d) - params.pad_d;
  let y0 = i32((row_out - slice_out * params.out_h) * params.stride_h) - params.pad_h;
  let x0 = i32((i - row_out * params.out_w) * params.stride_w) - params.pad_w;
  let outside = Loaded(select(0.0, params.lowest, IS_MAX));
  var result = outside;
  var place = 0u;
  var is_found = false;
  for (var q = 0u; q < params.kernel_d; q++) {
    let z = z0 + i32(q * params.dilation_d);
    let is_slice = is_inside(z, params.in_d);
    let slice = (volume * params.in_d + nearest(z, params.in_d)) * params.in_h;
    for (var r = 0u; r < params.kernel_h; r++) {
      let y = y0 + i32(r * params.dilation_h);
      let is_row = is_slice & is_inside(y, params.in_h);
      let row = (slice + nearest(y, params.in_h)) * params.in_w;
      for (var s = 0u; s < params.kernel_w; s++) {
        let x = x0 + i32(s * params.dilation_w);
        let at = row + nearest(x, params.in_w);
        let is_image = is_row & is_inside(x, params.in_w);
        let value = select(outside, load_x(at), is_image);
        if (IS_PLACE) {
          let is_better = is_image & (!is_found | (value > result));
          result = select(result, value, is_better);
          place = select(place, at, is_better);
          is_found = is_found | is_image;
        } else if (IS_MAX) {
          result = max(result, value);
        } else {
          result += value;
          if (IS_LONG) {
            result = after_round(result);
          }
        }
      }
    }
  }
  result = join_blocks(result);
  if (IS_MEAN) {
    result /= Loaded(max(1u,
      taps_counted(z0, vec3<u32>(params.kernel_d, params.dilation_d, params.in_d), params.counted_d) *
      taps_counted(y0, vec3<u32>(params.kernel_h, params.dilation_h, params.in_h), params.counted_h) *
      taps_counted(x0, vec3<u32>(params.kernel_w, params.dilation_w, params.in_w), params.counted_w)));
  }
  if (IS_PLACE) {
    store(i, Element(select(place, place_by_columns(place), IS_COLUMN_MAJOR)));
  } else {
    store(i, Element(result));
  }
}

fn is_inside(at: i32, size: u32) -> bool {
  return (at >= 0) & (at < i32(size));
}

fn nearest(at: i32, size: u32) -> u32 {
  return u32(clamp(at, 0, i32(size) - 1));
}

// The place of an element where the first spatial axis varies fastest.
fn place_by_columns(at: u32) -> u32 {
  let row = at / params.in_w;
  let slice = row / params.in_h;
  let volume = slice / params.in_d;
  let z = slice - volume * params.in_d;
  let y = row - slice * params.in_h;
  let x = at - row * params.in_w;
  return ((volume * params.in_w + x) * params.in_h + y) * params.in_d + z;
}

// Taps along one axis that count towards the mean: those inside, or those in the image with its
// padding; what ceil_mode adds beyond that never counts. `window`: taps, dilation, size.
fn taps_counted(start: i32, window: vec3<u32>, padded_size: u32) -> u32 {
  var count = 0u;
  for (var tap = 0u; tap < window.x; tap++) {
    let at = start + i32(tap * window.y);
    let counts = select(is_inside(at, window.z), at < i32(padded_size), COUNTS_PAD);
    count += select(0u, 1u, counts);
  }
  return count;
}
