// Where what is added to the scores of a query begins.
fn bias_start(head: u32, query: u32) -> u32 {
  let batch = head / params.heads;
  return batch * params.bias_batch + (head - batch * params.heads) * params.bias_head +
    query * params.bias_query;
}

// Scores within a limit, by a hyperbolic tangent that does not overflow.
fn capped(x: vec4<f32>) -> vec4<f32> {
  if (!HAS_CAP) {
    return x;
  }
  let part = x / params.softcap;
  // clamp may leave a NaN out.
  let is_nan = (bitcast<vec4<u32>>(part) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
  return select(tanh(clamp(part, vec4<f32>(-15.0), vec4<f32>(15.0))), part, is_nan) * params.softcap;
}
