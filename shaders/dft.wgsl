// One number of a discrete Fourier transform per invocation. The turn j * k / length of the circle is
// kept as an integer, so that it is exact for every length.
fn compute_at(i: u32) {
  let line = i / params.inner;
  let outer = line / params.out_size;
  let k = line - outer * params.out_size;
  var at = (outer * params.size * params.inner + i - line * params.inner) * PARTS;
  var turn = 0u;
  var sum = vec2<f32>();
  // Sums of few terms first: the error of one long sum would grow with its length.
  for (var block = 0u; block < params.read; block += 32u) {
    var part = vec2<f32>();
    for (var j = block; j < min(block + 32u, params.read); j++) {
      var value = vec2<f32>(load_x(at), 0.0);
      if (PARTS == 2u) {
        value.y = load_x(at + 1u);
      }
      if (IS_HERMITIAN && j > 0u && 2u * j != params.length) {
        value *= 2.0;
      }
      let c = load_twiddles(2u * turn);
      let s = load_twiddles(2u * turn + 1u) * params.direction;
      part += vec2<f32>(value.x * c - value.y * s, value.x * s + value.y * c);
      at += params.inner * PARTS;
      turn += k;
      turn -= select(0u, params.length, turn >= params.length);
    }
    sum += part;
  }
  sum *= params.scale;
  if (IS_HERMITIAN) {
    store(i, Element(sum.x));
  } else {
    store(2u * i, Element(sum.x));
    store(2u * i + 1u, Element(sum.y));
  }
}
