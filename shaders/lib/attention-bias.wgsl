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
  return tanh(clamp(x / params.softcap, vec4<f32>(-15.0), vec4<f32>(15.0))) * params.softcap;
}
